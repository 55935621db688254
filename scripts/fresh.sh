#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Runs the README's commands on a machine that has nothing: makes a bare Debian in a folder, clones what is committed into it, and runs
# `make COMMAND` there for each command. Fails where one of them does.
#
#   scripts/fresh.sh [option ...] bookworm|trixie [command ...]      default command: run
#
#   command          a target of the Makefile. `jax` and `install` bring their arguments: a script of examples/; a prefix, whose examples
#                    a user without the sources runs then
#   --user           as a user with sudo in place of root
#   --set NAME=VALUE a variable of the commands: CXX=g++, CCACHE_DISABLE=1
#   --without NAME   leaves a package out of the clone's scripts/setup.sh: shows that a missing one is seen
#   --keep           leaves the Debian in its folder, to look around in it
#   --folder FOLDER  where it is made, default build/fresh
#   --cache FOLDER   where packages and compiled objects are kept from one run to the next, default ~/.cache/systole/fresh
#
# Needs mmdebstrap and the keys of Debian's archive (debian-archive-keyring). As root it needs nothing more; another user needs user
# namespaces (uidmap, and a range of ids in /etc/subuid). DNS settings, CA bundle and proxy variables of this machine are taken along.

set -euo pipefail
{  # read whole before it runs: an edit meanwhile changes nothing
project=$(cd "$(dirname "$0")/.." && pwd)

say() { echo "fresh: $*"; }
die() { echo "fresh: $*" >&2; exit 1; }

user=root keep=no without= folder=$project/build/fresh cache=${XDG_CACHE_HOME:-$HOME/.cache}/systole/fresh
dist= commands=() variables=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help) sed -n '5,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --user) user=tester ;;
    --keep) keep=yes ;;
    --set | --without | --folder | --cache)
      [ $# -gt 1 ] || die "$1: a value is missing"
      case "$1" in
        --set) [[ "$2" =~ ^[A-Za-z_][A-Za-z_0-9]*= ]] || die "--set $2: NAME=VALUE is wanted"; variables+=("$2") ;;
        --without) without=$2 ;;
        --folder) folder=$(realpath -m "$2") ;;
        --cache) cache=$(realpath -m "$2") ;;
      esac
      shift ;;
    -*) die "$1: no such option (--help lists them)" ;;
    *) if [ -z "$dist" ]; then dist=$1; else commands+=("$1"); fi ;;
  esac
  shift
done
case "$dist" in
  bookworm | trixie) ;;
  "") die "name a distribution: bookworm or trixie" ;;
  *) die "$dist: no such distribution; there are bookworm (Debian 12) and trixie (Debian 13)" ;;
esac
[ ${#commands[@]} -gt 0 ] || commands=(run)
for command in "${commands[@]}"; do
  grep -q "^$command:" "$project/Makefile" || die "$command: the Makefile has no such target"
done
command -v mmdebstrap >/dev/null || die "no mmdebstrap: install the packages mmdebstrap and debian-archive-keyring"
git -C "$project" rev-parse --verify -q HEAD >/dev/null || die "$project is no clone of git: what is committed is what is tested"
[ -z "$(git -C "$project" status --porcelain --untracked-files=no)" ] || say "note: changes that are not committed are not tested"

root=$folder/$dist
archives=$cache/$dist/archives objects=$cache/$dist/ccache
[ "$user" = root ] || objects+=-$user  # ccache keeps folders that only their owner writes
mkdir -p "$folder" "$archives" "$objects"

# Other users are root of a namespace in which they have the ids of /etc/subuid.
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
else
  unshare --map-root-user --map-auto true 2>/dev/null || die "no user namespaces for $(id -un): run it as root, or see unshare --map-auto (package uidmap, /etc/subuid)"
  as_root=(unshare --map-root-user --map-auto)
fi
remove() { [ ! -e "$root" ] || "${as_root[@]}" rm -rf --one-file-system "$root"; }
finish() {
  local code=$?
  if [ "$keep" = yes ] && [ -d "$root" ]; then say "kept in $root"; else remove; fi
  exit $code
}
# Everything is mounted in a namespace of its own, which ends with its first process: an interrupt leaves no mount behind.
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

remove
say "making a bare $dist in $root"
begin=$SECONDS
packages=ca-certificates,make,git
[ "$user" = root ] || packages+=,sudo
mkdir "$root"
# Another user gets an archive, whose files then have the owners that they have in the namespace.
made=$root
[ "$(id -u)" -eq 0 ] || made=$folder/$dist.tar
mmdebstrap --quiet --variant=minbase --include="$packages" --skip=download/empty --skip=essential/unlink \
  --setup-hook='mkdir -p "$1/var/cache/apt/archives"' --setup-hook="sync-in '$archives' /var/cache/apt/archives" \
  --customize-hook="sync-out /var/cache/apt/archives '$archives'" --customize-hook='rm -rf "$1"/var/cache/apt/archives/*.deb' \
  "$dist" "$made" >"$folder/$dist.log" 2>&1 || die "mmdebstrap failed: $(tail -n 3 "$folder/$dist.log")"
if [ "$made" != "$root" ]; then
  "${as_root[@]}" tar --extract --file "$made" --directory "$root" --exclude './dev/*'
  rm "$made"
fi

# inside COMMAND: runs it there, with what programs expect of a machine, and the kept packages and objects.
# shellcheck disable=SC2016  # variables are of the inner shell
in_namespace='
  root=$1 archives=$2 objects=$3; shift 3
  mount --rbind "$root" "$root"  # a mount of its own, under which programs may make namespaces
  mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mkdir -p "$root/var/cache/ccache"
  mount --bind "$archives" "$root/var/cache/apt/archives"
  mount --bind "$objects" "$root/var/cache/ccache"
  exec chroot "$root" "$@"'
inside() {
  "${as_root[@]}" unshare --mount --pid --fork --kill-child bash -c "$in_namespace" - "$root" "$archives" "$objects" \
    env -i "${environment[@]}" "$@" </dev/null
}

# Of this machine: how names are found, whom to trust, which proxy to ask.
home=/root
environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb CCACHE_DIR=/var/cache/ccache)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL npm_config_registry; do
  [ -z "${!name-}" ] || environment+=("$name=${!name}")
done
bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
"${as_root[@]}" cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
if [ -f "$bundle" ]; then
  "${as_root[@]}" cp --dereference "$bundle" "$root/etc/ssl/host.crt"
  for name in PIP_CERT SSL_CERT_FILE NODE_EXTRA_CA_CERTS; do environment+=("$name=/etc/ssl/host.crt"); done
fi
if [ "$user" != root ]; then
  inside useradd --create-home --shell /bin/bash "$user"
  inside chown "$user:$user" /var/cache/ccache
  echo "$user ALL=(ALL) NOPASSWD: ALL" | "${as_root[@]}" tee "$root/etc/sudoers.d/$user" >/dev/null
  home=/home/$user
fi

# The clone: what is committed, nothing else. It goes in as a bundle, for the owner of the folder may be another there.
git -C "$project" bundle create --quiet "$folder/$dist.bundle" HEAD
"${as_root[@]}" cp "$folder/$dist.bundle" "$root/systole.bundle"
rm "$folder/$dist.bundle"
as_user=()
[ "$user" = root ] || as_user=(setpriv --reuid "$user" --regid "$user" --init-groups env "HOME=$home")
inside "${as_user[@]}" git -c advice.detachedHead=false clone --quiet /systole.bundle "$home/systole"
if [ -n "$without" ]; then
  script=$root$home/systole/scripts/setup.sh
  grep -qwF -e "$without" "$script" || die "--without $without: scripts/setup.sh installs no such package"
  "${as_root[@]}" sed -i -E "s/(^|[ (])'?${without//+/[+]}(\|[a-z0-9.-]+)?'?( |\$|\))/\1\3/g" "$script"
  say "left out of scripts/setup.sh: $without"
fi
say "made in $((SECONDS - begin)) s; $(git -C "$project" log -1 --format='%h %s')"

for command in "${commands[@]}"; do
  more=
  case "$command" in
    jax) line='make jax ARGS="examples/jax_mlp.py --digits tests/data/mnist"' ;;
    install)
      # As docs/install.md has it; the examples by somebody who owns nothing of it.
      prefix=/opt/systole nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
      [ "$user" = root ] || prefix=$home/prefix nobody=
      line="make install PREFIX=$prefix"
      more="mkdir -m 777 -p /tmp/away && cd /tmp/away && export SYSTOLE_SHARE=$prefix/share/systole PYTHONPATH=$prefix/share/systole/python HOME=/tmp/away
        $nobody python3 \$SYSTOLE_SHARE/examples/python/digits_numpy.py --backend rtl --preset nano &&
        $nobody cc \$SYSTOLE_SHARE/examples/c/digits.c -I$prefix/include -L$prefix/lib -lsystole -Wl,-rpath,$prefix/lib -o digits &&
        $nobody ./digits rtl nano 2 && $prefix/bin/systole run --images 2 --preset nano"
      ;;
    *) line="make $command" ;;
  esac
  say "$line"
  begin=$SECONDS
  inside "${as_user[@]}" "${variables[@]}" bash -c "cd $home/systole && $line${more:+ && $more}" || die "$dist, $user: $line failed"
  say "$dist, $user: $line passed in $((SECONDS - begin)) s"
done
exit
}
