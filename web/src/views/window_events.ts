// What the whole window listens to: files dropped anywhere, and Escape.

import { cancelJob } from '../actions/job';
import { refuse, takeFiles } from '../actions/open';
import { filesOfDrop, TooManyFiles } from '../actions/read_drop';
import { dragging } from '../state/store';
import { closeInspector } from './inspector';

function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

async function takeDrop(transfer: DataTransfer): Promise<void> {
  const next = 'Drop one .onnx file, with its external data files and samples if you have them.';
  if (!transfer.types.includes('Files')) {
    refuse('That was text or a link, not a file.', next);
    return;
  }
  try {
    await takeFiles(await filesOfDrop(transfer));
  } catch (cause) {
    const message = cause instanceof TooManyFiles ? cause.message : 'The dropped files could not be read.';
    refuse(message, next);
  }
}

function onEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.defaultPrevented) return;
  if (dragging.value) dragging.value = false;
  else if (document.querySelector('dialog[open]') !== null)
    return; // The dialog closes itself.
  else if (!cancelJob()) closeInspector();
}

export function listenToWindow(): void {
  let depth = 0; // Every element under the pointer enters and leaves; the window is left when all have.
  const end = (): void => {
    depth = 0;
    dragging.value = false;
  };
  addEventListener('dragenter', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    depth += 1;
    dragging.value = true;
  });
  addEventListener('dragover', (event) => {
    if (isEditable(event.target) && !carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
  });
  addEventListener('dragleave', () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) dragging.value = false;
  });
  addEventListener('dragend', end);
  addEventListener('drop', (event) => {
    end();
    if (isEditable(event.target) && !carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) void takeDrop(event.dataTransfer);
  });
  addEventListener('keydown', onEscape);
}
