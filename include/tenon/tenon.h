// The whole public library.
#pragma once
#include "tenon/autograd.h"
#include "tenon/dims.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/factories.h"
#include "tenon/instruction_set.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/shape.h"
#include "tenon/tensor.h"
#include "tenon/threads.h"
#include "tenon/version.h"
