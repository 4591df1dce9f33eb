// Files that people take for ONNX models. Recognised by their first bytes, only after the core has refused the file.

export interface KnownFormat {
  what: string;
  next: string;
}

const kExportTorch = 'Export it with torch.onnx.export, then drop the .onnx file.';

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  return [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));
}

export function knownFormat(head: Uint8Array, fileName: string): KnownFormat | null {
  if (startsWith(head, 'TFL3', 4)) {
    return {
      what: 'a TensorFlow Lite model',
      next: 'Convert it with tf2onnx (it reads .tflite), then drop the .onnx file.',
    };
  }
  if (startsWith(head, 'ORTM', 4)) {
    return { what: 'a model in ORT format', next: 'Drop the .onnx file that it was made from.' };
  }
  if (startsWith(head, '\u0089HDF'))
    return { what: 'an HDF5 (Keras) model', next: 'Convert it with tf2onnx, then drop the .onnx file.' };
  if (startsWith(head, 'GGUF'))
    return { what: 'a GGUF model', next: 'Export the original model to ONNX instead.' };
  if (startsWith(head, 'PK\u0003\u0004')) {
    return /\.(pt|pth|ckpt|bin)$/i.test(fileName)
      ? { what: 'a PyTorch checkpoint', next: kExportTorch }
      : { what: 'a zip archive', next: 'Unpack it and drop the .onnx file inside.' };
  }
  if (startsWith(head, '\u0080\u0002') && /\.(pt|pth|pkl)$/i.test(fileName))
    return { what: 'a PyTorch checkpoint', next: kExportTorch };
  if (/\.safetensors$/i.test(fileName))
    return { what: 'a file of weights without a graph', next: 'Export the model to ONNX instead.' };
  return null;
}
