# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# The project in a container, set up by scripts/setup.sh as on any machine.
#
#   docker build -t systole .                                   Debian 13
#   docker build -t systole --build-arg BASE=debian:bookworm .  Debian 12
#   docker run --rm -it systole make run
#
# The stage `tools` has the packages of the distribution alone, for a folder of sources that is mounted (.devcontainer).

ARG BASE=debian:trixie
FROM ${BASE} AS tools
COPY scripts/setup.sh /tmp/systole/scripts/
RUN /tmp/systole/scripts/setup.sh packages && rm -rf /tmp/systole /var/lib/apt/lists/*

FROM tools
WORKDIR /systole
COPY . .
RUN scripts/setup.sh
CMD ["make", "run"]
