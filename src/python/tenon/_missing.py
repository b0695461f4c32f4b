"""What programs ask for that is not in Tenon, and what does it instead. Other unknown names get Python's own error."""

_INSTEAD = {
    "linalg": {
        "ldl_factor ldl_factor_ex": "scipy.linalg.ldl(x)",
        "ldl_solve householder_product": "",
    },
    "": {
        "symeig": "linalg.eigh(x)",
        "eig matrix_rank": "linalg.{}(x)",
        "lstsq solve": "linalg.{}(a, b)",
        "stft istft": "scipy.signal.{}(x)",
        "geqrf lobpcg orgqr ormqr pca_lowrank svd_lowrank": "",
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc convolution": "x.unfold(dim, size, step) and tensordot",
        "avg_pool1d max_pool1d max_pool2d max_pool3d adaptive_avg_pool1d adaptive_max_pool1d": "x.unfold(dim, size, step).mean(-1) or .amax(-1)",
        "gru lstm rnn_tanh rnn_relu gru_cell lstm_cell rnn_tanh_cell rnn_relu_cell": "linear, sigmoid and tanh",
        "ctc_loss embedding_bag grid_sampler": "",
        "sparse sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor smm hsmm sspaddmm saddmm": "",
        "distributions": "normal, bernoulli, multinomial, poisson and binomial",
        "signal": "hann_window and its relatives",
        "masked nested": "",
        "jit distributed multiprocessing onnx hub fx export profiler quantization ao amp autocast GradScaler": "",
        "segment_reduce quantize_per_tensor quantize_per_channel Stream Event": "",
    },
    "nn": {
        "Linear Bilinear Embedding LayerNorm GroupNorm RMSNorm Dropout Dropout1d Dropout2d Dropout3d AlphaDropout": "nn.functional.{}",
        "ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softmin Softplus Softshrink Softsign Hardtanh Hardsigmoid": "nn.functional.{}",
        "Hardswish Hardshrink Tanhshrink Threshold GLU PReLU RReLU LogSigmoid PixelShuffle PixelUnshuffle ChannelShuffle": "nn.functional.{}",
        "MSELoss L1Loss NLLLoss CrossEntropyLoss BCELoss BCEWithLogitsLoss KLDivLoss SmoothL1Loss HuberLoss PoissonNLLLoss GaussianNLLLoss": "nn.functional.{}",
        "HingeEmbeddingLoss MarginRankingLoss SoftMarginLoss CosineEmbeddingLoss TripletMarginLoss MultiMarginLoss MultiLabelMarginLoss": "nn.functional.{}",
        "BatchNorm1d BatchNorm2d BatchNorm3d": "nn.functional.batch_norm",
        "InstanceNorm1d InstanceNorm2d InstanceNorm3d": "nn.functional.instance_norm",
        "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Identity Flatten Unflatten": "a function of tensors and its parameters",
        "RNN LSTM GRU RNNCell LSTMCell GRUCell": "nn.functional.linear, sigmoid and tanh",
        "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d": "x.unfold(dim, size, step) and tensordot",
        "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d": "x.unfold(dim, size, step).mean(-1) or .amax(-1)",
        "MultiheadAttention Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder": "nn.functional.scaled_dot_product_attention",
        "PairwiseDistance CosineSimilarity MultiLabelSoftMarginLoss TripletMarginWithDistanceLoss LocalResponseNorm FeatureAlphaDropout": "nn.functional.{}",
        "ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d": "nn.functional.pad",
        "ReplicationPad1d ReplicationPad2d ReplicationPad3d CircularPad1d CircularPad2d CircularPad3d": "nn.functional.pad",
        "Softmax2d": "nn.functional.softmax",
        "Upsample Unfold Fold EmbeddingBag CTCLoss parallel DataParallel SyncBatchNorm AdaptiveLogSoftmaxWithLoss": "",
    },
    "nn.functional": {
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc": "x.unfold(dim, size, step) and tensordot",
        "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d lp_pool1d lp_pool2d lp_pool3d": "x.unfold(dim, size, step).mean(-1)",
        "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d": "x.unfold(dim, size, step).amax(-1)",
        "interpolate upsample upsample_nearest upsample_bilinear grid_sample affine_grid": "",
        "ctc_loss embedding_bag multi_head_attention_forward fractional_max_pool2d fractional_max_pool3d max_unpool1d max_unpool2d max_unpool3d": "",
    },
    "nn.utils": {"weight_norm spectral_norm remove_weight_norm remove_spectral_norm parametrize parametrizations prune": ""},
    "nn.utils.rnn": {"PackedSequence pack_padded_sequence pad_packed_sequence pack_sequence unpack_sequence": "nn.utils.rnn.pad_sequence"},
    "optim": {
        "LBFGS": "scipy.optimize.minimize(f, x, method='L-BFGS-B', jac=True)",
        "ASGD Adadelta Adafactor Adamax Muon NAdam RAdam Rprop SparseAdam": "SGD, Adam, AdamW, RMSprop and Adagrad",
        "swa_utils": "",
    },
    "utils": {"data": "x[tenon.randperm(len(x))].split(batch_size)", "tensorboard mobile_optimizer": ""},
    "autograd.graph": {
        "saved_tensors_hooks": "utils.checkpoint.checkpoint(function, x, use_reentrant=True)",
        "Node GradientEdge get_gradient_edge increment_version register_multi_grad_hook allow_mutation_on_saved_tensors": "",
    },
    "Tensor": {
        "stft istft": "scipy.signal.{}(x)",
        "geqrf orgqr ormqr lstsq eig symeig": "",
        "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc to_mkldnn sparse_mask smm": "",
        "share_memory_ xpu ipu mtia": "",
    },
}  # fmt: skip
_FUNCTIONAL = {"BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "MSELoss": "mse_loss", "L1Loss": "l1_loss", "NLLLoss": "nll_loss",
               "KLDivLoss": "kl_div", "SmoothL1Loss": "smooth_l1_loss", "PoissonNLLLoss": "poisson_nll_loss", "GaussianNLLLoss": "gaussian_nll_loss",
               "MultiLabelMarginLoss": "multilabel_margin_loss"}  # fmt: skip


def _functional_name(name):
    """cross_entropy for CrossEntropyLoss: the function that does what a module does."""
    from .nn import functional

    plain = name.lower().replace("_", "")
    for each in functional.__all__:
        if each.replace("_", "") in (plain, plain.removesuffix("loss")):
            return each
    return _FUNCTIONAL[name]


def reason(module, name):
    """Why a module of PyTorch's does not have the name here, or None where PyTorch may not have it either."""
    for names, instead in _INSTEAD[module].items():
        if name not in names.split():
            continue
        if instead == "nn.functional.{}":
            instead = instead.format(_functional_name(name))
        works = "work" if " and " in instead else "works"
        return "not in Tenon" + (f"; {instead.format(name)} {works}" if instead else "")
    return None


def refuse(module, name):
    """Raises AttributeError for a name that a module does not have."""
    text = f"module 'tenon{'.' + module if module else ''}' has no attribute '{name}'"
    why = reason(module, name)
    raise AttributeError(f"{text}: {why}" if why else text, name=name)


def refuse_module(module, name):
    """Raises ModuleNotFoundError in the place of a module that programs import."""
    path = f"tenon.{module + '.' if module else ''}{name}"
    raise ModuleNotFoundError(f"No module named '{path}': {reason(module, name)}", name=path)


class Absent:
    """A name that Tensor does not have, whose error says what does it instead. (A __getattr__ would make every method slower.)"""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner=None):
        raise AttributeError(f"'Tensor' object has no attribute '{self.name}': {reason('Tensor', self.name)}", name=self.name)


def absent_methods():
    """{name: what raises its error}"""
    return {name: Absent(name) for names in _INSTEAD["Tensor"] for name in names.split()}
