// The list of what JavaScript sees of the module of number formats, which a page loads when it needs them: it
// opens models, too, but neither plans nor measures.
#include <emscripten/bind.h>

#include "codec_jobs.h"
#include "encoded_weights.h"
#include "job.h"
#include "model_handle.h"
#include "tensor_job.h"

using namespace halftone::wasm;  // NOLINT(google-build-using-namespace)

EMSCRIPTEN_BINDINGS(halftone_formats) {
  emscripten::class_<ModelHandle>("Model")
      .smart_ptr<std::shared_ptr<ModelHandle>>("ModelPointer")
      .function("next", &ModelHandle::next)
      .function("commit", &ModelHandle::commit)
      .function("parse", &ModelHandle::parse)
      .function("beginExternal", &ModelHandle::begin_external)
      .function("finish", &ModelHandle::finish);

  emscripten::class_<Job>("Job")
      .smart_ptr<std::shared_ptr<Job>>("JobPointer")
      .function("feed", &Job::feed)
      .function("read", &Job::read)
      .function("result", &Job::result);

  emscripten::class_<TensorJob>("TensorJob")
      .smart_ptr<std::shared_ptr<TensorJob>>("TensorJobPointer")
      .function("next", &TensorJob::next)
      .function("commit", &TensorJob::commit)
      .function("take", &TensorJob::take)
      .function("result", &TensorJob::result);

  emscripten::function("createModel", &ModelHandle::create);
  emscripten::function("listFormats", &list_formats);
  emscripten::function("createEncoder", &create_encoder);
  emscripten::function("createDecoder", &create_decoder);
  emscripten::function("decodeStored", &decode_stored);
  emscripten::function("createTrial", &create_trial);
  emscripten::function("createConstantTrial", &create_constant_trial);
  emscripten::function("weightsOf", &weights_of);
  emscripten::function("createEncodedExport", &create_encoded_export);
}
