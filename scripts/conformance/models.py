# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Models as users build them in Keras, with seeded random weights, at sizes that a simulation can run.

BUILDERS maps a name to a function that builds the model; random_model(seed) draws one more. `settled` gives a model weights that it could
have after training: each batch normalisation has the statistics of random inputs, so that no value grows from layer to layer.
"""

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from keras import layers

BUILDERS = {}


def model(function):
    BUILDERS[function.__name__] = function
    return function


def application(name, size, **options):
    """A network of keras.applications with its own head; its inputs are scaled already."""

    def build():
        constructor = getattr(keras.applications, name)
        return constructor(weights=None, input_shape=(size, size, 3), classes=100, **options)

    BUILDERS[name.lower()] = build


def images(size=32, channels=3):
    return keras.Input((size, size, channels))


@model
def autoencoder_dense():
    x = y = keras.Input((128,))
    for units in (64, 32, 8, 32, 64):
        y = layers.Dense(units, activation="relu")(y)
    return keras.Model(x, layers.Dense(128)(y))


@model
def autoencoder_convolutional():
    x = y = images()
    for filters in (16, 32, 64):
        y = layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(y)
    for filters in (64, 32, 16):
        y = layers.Conv2DTranspose(filters, 3, strides=2, padding="same", activation="relu")(y)
    return keras.Model(x, layers.Conv2D(3, 3, padding="same", activation="sigmoid")(y))


def u_net(up):
    def block(y, filters):
        for _ in range(2):
            y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
            y = layers.ReLU()(layers.BatchNormalization()(y))
        return y

    x = y = images()
    skips = []
    for filters in (8, 16, 32):
        y = block(y, filters)
        skips.append(y)
        y = layers.MaxPooling2D()(y)
    y = block(y, 64)
    for filters, skip in zip((32, 16, 8), reversed(skips)):
        y = block(layers.Concatenate()([up(filters)(y), skip]), filters)
    return keras.Model(x, layers.Conv2D(4, 1, activation="softmax")(y))


@model
def u_net_transposed():
    return u_net(lambda filters: layers.Conv2DTranspose(filters, 2, strides=2, padding="same"))


@model
def u_net_nearest():
    return u_net(lambda filters: layers.UpSampling2D())


@model
def u_net_bilinear():
    return u_net(lambda filters: layers.UpSampling2D(interpolation="bilinear"))


def backbone(y, filters):
    features = []
    for count in filters:
        y = layers.Conv2D(count, 3, strides=2, padding="same", use_bias=False)(y)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
        y = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(y)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
        features.append(y)
    return features


@model
def ssd_head():
    """Boxes and classes of the anchors of three feature maps."""
    x = images(64)
    boxes, classes = [], []
    for y in backbone(x, (16, 32, 48, 64))[1:]:
        boxes.append(layers.Reshape((-1, 4))(layers.Conv2D(6 * 4, 3, padding="same")(y)))
        classes.append(layers.Reshape((-1, 5))(layers.Conv2D(6 * 5, 3, padding="same")(y)))
    boxes, classes = layers.Concatenate(axis=1)(boxes), layers.Concatenate(axis=1)(classes)
    return keras.Model(x, [boxes, layers.Activation("sigmoid")(classes)])


def anchors(y, classes):
    """YOLO: centres, sizes, confidence and classes of three anchors a place."""
    shape = y.shape
    y = layers.Reshape((shape[1], shape[2], 3, 5 + classes))(layers.Conv2D(3 * (5 + classes), 1)(y))
    centre = layers.Activation("sigmoid")(y[..., 0:2])
    size = layers.Activation("tanh")(y[..., 2:4])
    rest = layers.Activation("sigmoid")(y[..., 4:])
    return layers.Reshape((-1, 5 + classes))(layers.Concatenate()([centre * 2 - 0.5, (size + 1) * (size + 1), rest]))


@model
def yolo_head():
    x = images(64)
    _, _, fine, coarse = backbone(x, (16, 32, 48, 64))
    up = layers.UpSampling2D()(layers.LeakyReLU(negative_slope=0.1)(layers.Conv2D(32, 1)(coarse)))
    fine = layers.LeakyReLU(negative_slope=0.1)(layers.Conv2D(48, 3, padding="same")(layers.Concatenate()([up, fine])))
    return keras.Model(x, layers.Concatenate(axis=1)([anchors(fine, 3), anchors(coarse, 3)]))


@model
def yolo_v8_block():
    """Split, bottlenecks and concatenation with swish; a spatial pyramid of pools."""

    def conv(y, filters, size):
        return layers.Activation("silu")(layers.BatchNormalization()(layers.Conv2D(filters, size, padding="same", use_bias=False)(y)))

    x = images()
    y = conv(x, 32, 3)
    first, second = tf.keras.ops.split(y, 2, axis=-1)
    parts = [first, second]
    for _ in range(2):
        parts.append(conv(conv(parts[-1], 16, 3), 16, 3) + parts[-1])
    y = conv(layers.Concatenate()(parts), 32, 1)
    pyramid = [y]
    for _ in range(3):
        pyramid.append(layers.MaxPooling2D(5, strides=1, padding="same")(pyramid[-1]))
    return keras.Model(x, layers.Conv2D(8, 1)(layers.Concatenate()(pyramid)))


@model
def wavenet():
    """Gated dilated causal convolutions with residual and skip connections."""
    x = keras.Input((64, 8))
    y, skips = layers.Conv1D(16, 2, padding="causal")(x), []
    for dilation in (1, 2, 4, 8):
        gated = layers.Conv1D(16, 2, padding="causal", dilation_rate=dilation, activation="tanh")(y)
        gate = layers.Conv1D(16, 2, padding="causal", dilation_rate=dilation, activation="sigmoid")(y)
        gated = layers.Multiply()([gated, gate])
        skips.append(layers.Conv1D(16, 1)(gated))
        y = layers.Add()([y, layers.Conv1D(16, 1)(gated)])
    y = layers.ReLU()(layers.Add()(skips))
    return keras.Model(x, layers.Conv1D(10, 1, activation="softmax")(y))


@model
def dilated_1d():
    x = y = keras.Input((64, 8))
    for dilation in (1, 2, 4, 8):
        y = layers.Conv1D(16, 3, padding="same", dilation_rate=dilation, activation="relu")(y)
    return keras.Model(x, layers.Dense(5)(layers.GlobalMaxPooling1D()(y)))


# Of Keras 2 (tf_keras), whose layer the converter makes one operator of. Of Keras 3 it meets a loop, and ends with signal 11.
@model
def lstm():
    x = tf_keras.Input(batch_shape=(1, 12, 16))
    return tf_keras.Model(x, tf_keras.layers.Dense(6, activation="softmax")(tf_keras.layers.LSTM(20)(x)))


@model
def lstm_stacked():
    x = tf_keras.Input(batch_shape=(1, 10, 8))
    y = tf_keras.layers.LSTM(12, return_sequences=True)(x)
    # Weights as after training: of the usual first ones the cells stay so small that their scale has no tanh in the reference kernel.
    y = tf_keras.layers.LSTM(16, kernel_initializer=tf_keras.initializers.RandomNormal(stddev=1.0))(y)
    return tf_keras.Model(x, tf_keras.layers.Dense(3)(y))


@model
def lstm_bidirectional():
    x = tf_keras.Input(batch_shape=(1, 8, 8))
    return tf_keras.Model(x, tf_keras.layers.Dense(3)(tf_keras.layers.Bidirectional(tf_keras.layers.LSTM(10))(x)))


@model
def volume():
    """Three dimensions, and a quotient: both stay floats."""
    x = keras.Input((4, 8, 8, 2))
    y = layers.Conv3D(6, 3, activation="relu", padding="same")(x)
    y = layers.Conv3D(4, 2, strides=2)(y)
    y = layers.Dense(5)(layers.Flatten()(y))
    return keras.Model(x, y / (layers.Activation("sigmoid")(y) + 0.5))


@model
def lstm_unrolled():
    x = keras.Input((6, 8))
    return keras.Model(x, layers.Dense(3)(layers.LSTM(12, unroll=True)(x)))


@model
def gru_unrolled():
    x = keras.Input((6, 8))
    return keras.Model(x, layers.Dense(3)(layers.GRU(12, unroll=True)(x)))


@model
def rnn_unrolled():
    x = keras.Input((6, 8))
    return keras.Model(x, layers.Dense(3)(layers.SimpleRNN(12, unroll=True)(x)))


def encoder(y, heads, width, activation):
    attention = layers.MultiHeadAttention(heads, width // heads)(y, y)
    y = layers.LayerNormalization()(y + attention)
    inner = layers.Dense(2 * width)(layers.Dense(2 * width, activation=activation)(y))
    return layers.LayerNormalization()(y + layers.Dense(width)(inner))


@model
def transformer_encoder():
    x = y = keras.Input((16, 32))
    for _ in range(2):
        y = encoder(y, 4, 32, "relu")
    return keras.Model(x, layers.Dense(5, activation="softmax")(layers.GlobalAveragePooling1D()(y)))


@model
def transformer_text():
    """Of tokens: embeddings, positions, one encoder."""
    x = keras.Input((12,), dtype="int32")
    y = layers.Embedding(50, 24)(x)
    y = y + layers.Embedding(12, 24)(np.arange(12, dtype=np.int32))
    y = encoder(y, 2, 24, "gelu")
    return keras.Model(x, layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling1D()(y)))


@model
def vision_transformer():
    x = images(16)
    y = layers.Reshape((16, 32))(layers.Conv2D(32, 4, strides=4)(x))
    y = encoder(y, 4, 32, "gelu")
    return keras.Model(x, layers.Dense(10)(y[:, 0]))


@model
def mlp_mixer():
    x = keras.Input((16, 24))
    y = layers.LayerNormalization()(x)
    y = layers.Permute((2, 1))(layers.Dense(16, activation="gelu")(layers.Permute((2, 1))(y)))
    y = x + y
    y = y + layers.Dense(24)(layers.Dense(48, activation="gelu")(layers.LayerNormalization()(y)))
    return keras.Model(x, layers.Dense(5)(layers.GlobalAveragePooling1D()(y)))


@model
def squeeze_and_excite():
    x = y = images()
    for filters in (16, 32):
        y = layers.Activation("hard_silu")(layers.Conv2D(filters, 3, strides=2, padding="same")(y))
        gate = layers.GlobalAveragePooling2D(keepdims=True)(y)
        gate = layers.Conv2D(filters, 1, activation="hard_sigmoid")(layers.Conv2D(8, 1, activation="relu")(gate))
        y = layers.Multiply()([y, gate])
    return keras.Model(x, layers.Dense(5)(layers.GlobalAveragePooling2D()(y)))


@model
def shuffle_net():
    """Grouped convolutions and channel shuffles."""
    x = y = images()
    y = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(y)
    for _ in range(2):
        z = layers.Conv2D(24, 1, groups=3, activation="relu")(y)
        z = layers.Reshape((16, 16, 3, 8))(z)
        z = layers.Reshape((16, 16, 24))(layers.Permute((1, 2, 4, 3))(z))
        z = layers.DepthwiseConv2D(3, padding="same")(z)
        y = layers.ReLU()(y + layers.Conv2D(24, 1, groups=3)(z))
    return keras.Model(x, layers.Dense(5)(layers.GlobalAveragePooling2D()(y)))


@model
def super_resolution():
    """Sub-pixel convolution."""
    x = images(16, 1)
    y = layers.Conv2D(16, 5, padding="same", activation="tanh")(x)
    y = layers.Conv2D(16, 3, padding="same", activation="tanh")(y)
    y = layers.Conv2D(4, 3, padding="same")(y)
    return keras.Model(x, tf.keras.layers.Lambda(lambda t: tf.nn.depth_to_space(t, 2), output_shape=(32, 32, 1))(y))


@model
def activations():
    """One of each, behind a convolution each."""
    x = y = images(8)
    for name in ("relu", "relu6", "elu", "gelu", "leaky_relu", "silu", "tanh", "sigmoid", "hard_silu", "hard_sigmoid", "selu", "softplus", "exponential"):
        y = layers.Activation(name)(layers.Conv2D(8, 3, padding="same")(y))
    y = layers.PReLU(shared_axes=[1, 2], alpha_initializer="glorot_uniform")(y)
    return keras.Model(x, layers.Activation("log_softmax")(layers.Dense(4)(layers.GlobalMaxPooling2D()(y))))


@model
def metric_embedding():
    """Normalised embeddings, as of a face recognition network."""
    x = y = images()
    for filters in (16, 32):
        y = layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(y)
    y = layers.Dense(16)(layers.GlobalAveragePooling2D()(y))
    return keras.Model(x, layers.Lambda(lambda t: tf.math.l2_normalize(t, axis=-1), output_shape=(16,))(y))


@model
def segmentation_atrous():
    """DeepLab: atrous pyramid, image pooling, resizing of any factor."""
    x = y = images(48)
    y = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(y)
    y = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(y)
    parts = [layers.Conv2D(16, 1, activation="relu")(y)]
    parts += [layers.Conv2D(16, 3, padding="same", dilation_rate=rate, activation="relu")(y) for rate in (2, 3, 4)]
    pooled = layers.Conv2D(16, 1, activation="relu")(layers.GlobalAveragePooling2D(keepdims=True)(y))
    parts.append(layers.Resizing(12, 12)(pooled))
    y = layers.Conv2D(4, 1)(layers.Concatenate()(parts))
    y = layers.Resizing(48, 48)(y)
    return keras.Model(x, layers.Lambda(lambda t: tf.argmax(t, axis=-1, output_type=tf.int32), output_shape=(48, 48))(y))


@model
def keyword_spotting():
    x = keras.Input((49, 10, 1))
    y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(32, (10, 4), strides=2, padding="same", use_bias=False)(x)))
    for _ in range(2):
        y = layers.ReLU()(layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same", use_bias=False)(y)))
        y = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(32, 1, use_bias=False)(y)))
    return keras.Model(x, layers.Dense(12, activation="softmax")(layers.GlobalAveragePooling2D()(y)))


@model
def two_inputs():
    a, b = keras.Input((16, 16, 3), name="image"), keras.Input((10,), name="facts")
    y = layers.GlobalAveragePooling2D()(layers.Conv2D(16, 3, activation="relu")(a))
    y = layers.Concatenate()([y, layers.Dense(8, activation="relu")(b)])
    return keras.Model([a, b], [layers.Dense(4, activation="softmax", name="kind")(y), layers.Dense(1, name="value")(y)])


for _name, _size in (
    ("VGG16", 32), ("VGG19", 32), ("ResNet50", 32), ("ResNet101", 32), ("ResNet50V2", 32), ("ResNet101V2", 32), ("DenseNet121", 32),
    ("DenseNet169", 32), ("MobileNet", 32), ("MobileNetV2", 32), ("Xception", 71), ("InceptionV3", 75), ("InceptionResNetV2", 75),
    ("NASNetMobile", 32), ("EfficientNetB0", 32), ("EfficientNetB1", 32),
):  # fmt: skip
    application(_name, _size)
for _name in (
    "MobileNetV3Small", "MobileNetV3Large", "EfficientNetV2B0", "EfficientNetV2S", "ConvNeXtTiny",
    "ConvNeXtSmall",
):  # fmt: skip
    application(_name, 32, include_preprocessing=False)


def random_model(seed):
    """A graph of random layers: every layer reads one or two of the values so far."""
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)

    def pick(*items):
        return items[rng.integers(len(items))]

    def activation():
        return layers.Activation(pick("relu", "relu6", "sigmoid", "tanh", "silu", "hard_silu", "elu", "gelu", "leaky_relu"))

    x = images(int(pick(8, 12, 17)), int(pick(1, 3, 5)))
    values = [x]

    def step():
        y = values[-1 - int(rng.integers(min(3, len(values))))]
        kind = pick("conv", "conv", "conv", "depthwise", "separable", "norm", "activation", "pool", "add", "concat", "mul", "pad", "crop", "up",
                    "transposed", "attention", "max", "subtract", "prelu")  # fmt: skip
        filters, same = int(rng.integers(2, 20)), [v for v in values if v.shape == y.shape]
        like = same[rng.integers(len(same))]
        padding, size = pick("same", "valid"), int(min(rng.integers(1, 5), y.shape[1], y.shape[2]))
        if kind == "conv":
            y = layers.Conv2D(filters, size, strides=int(pick(1, 1, 2)), padding=padding, activation=pick(None, "relu", "relu6"))(y)
        elif kind == "depthwise":
            y = layers.DepthwiseConv2D(size, padding=padding, depth_multiplier=int(pick(1, 1, 2)))(y)
        elif kind == "separable":
            y = layers.SeparableConv2D(filters, size, padding=padding)(y)
        elif kind == "norm":
            y = layers.BatchNormalization()(layers.Conv2D(filters, 1, use_bias=False)(y))
        elif kind == "activation":
            y = activation()(y)
        elif kind == "prelu":
            y = layers.PReLU(shared_axes=[1, 2], alpha_initializer="glorot_uniform")(y)
        elif kind == "pool":
            y = pick(layers.MaxPooling2D, layers.AveragePooling2D)(size, strides=int(pick(1, 2)), padding=padding)(y)
        elif kind in ("add", "mul", "max", "subtract"):
            join = {"add": layers.Add, "mul": layers.Multiply, "max": layers.Maximum, "subtract": layers.Subtract}[kind]
            y = join()([layers.Conv2D(y.shape[3], 1)(y), like])
        elif kind == "concat":
            y = layers.Concatenate(axis=int(pick(1, 2, 3)))([y, like])
        elif kind == "pad":
            y = layers.ZeroPadding2D(((1, 0), (2, 1)))(y)
        elif kind == "crop" and min(y.shape[1:3]) > 3:
            y = layers.Cropping2D(((1, 0), (0, 2)))(y)
        elif kind == "up" and max(y.shape[1:3]) < 16:
            y = layers.UpSampling2D(2, interpolation=pick("nearest", "bilinear"))(y)
        elif kind == "transposed" and max(y.shape[1:3]) < 16:
            y = layers.Conv2DTranspose(filters, 3, strides=int(pick(1, 2)), padding=padding)(y)
        elif kind == "attention":
            gate = layers.Conv2D(y.shape[3], 1, activation="sigmoid")(layers.GlobalAveragePooling2D(keepdims=True)(y))
            y = layers.Multiply()([y, gate])
        if y.shape[1] > 0 and y.shape[2] > 0:
            values.append(y)

    for _ in range(int(rng.integers(3, 12))):
        step()
    outputs = [values[-1]]
    if rng.integers(2):
        outputs.append(layers.Dense(int(rng.integers(2, 9)), activation=pick(None, "softmax"))(pick(layers.Flatten, layers.GlobalAveragePooling2D)()(y := values[-1])))
    return keras.Model(x, outputs)


def samples(shapes, count, seed):
    """Inputs, one list of arrays a sample, for shapes and whether each is of integers: normal numbers, or tokens."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sample = []
        for shape, integer in shapes:
            if integer:
                sample.append(rng.integers(0, 12, shape).astype(np.int32))
            else:
                sample.append(np.clip(rng.normal(0, 1, shape), -3, 3).astype(np.float32))
        yield sample


def shapes_of(net):
    return [((1, *source.shape[1:]), "int" in str(source.dtype)) for source in net.inputs]


def settled(net, seed):
    """The model with the statistics of random inputs in its normalisations, and biases that are not 0."""
    rng = np.random.default_rng(seed)
    norms = [layer for layer in net._flatten_layers(include_self=False) if isinstance(layer, layers.BatchNormalization)]
    batch = [np.concatenate(parts) for parts in zip(*samples(shapes_of(net), 48, seed))]
    for layer in norms:
        layer.momentum = 0.0
    if norms:
        net(batch if len(batch) > 1 else batch[0], training=True)
    for variable in net.trainable_variables:
        if variable.name.split("/")[-1].split(":")[0] in ("bias", "beta") and len(variable.shape) == 1:
            variable.assign(variable + rng.normal(0, 0.05, variable.shape))
    return net
