// Reading the model's graph when somebody looks at it, and laying it out whenever what is drawn changes.
import { effect, untracked } from '@preact/signals';
import { openAtFirst } from '../graph/blocks';
import type { Folded } from '../graph/fold';
import { boxSize } from '../pictures/graph';
import {
  blocks,
  chosenBox,
  folded,
  graphProblem,
  laidOut,
  modelGraph,
  net,
  openBlocks,
} from '../state/graph';
import { isCancel, problemFrom } from '../state/problem';
import { pending, picture, type Session, selected, session, step } from '../state/store';
import { bench } from './context';

/** More boxes than this are not drawn at first; a person may open what they like. */
const kBoxesAtFirst = 140;
/** Wide screens and narrow ones; the room of a picture in the middle of either. */
const kAspect = { wide: 1.35, narrow: 0.7 };

export function startGraphing(): () => void {
  let shown: Session | null = null;
  let controller = new AbortController();
  const stopReading = effect(() => {
    const current = session.value;
    if (current !== shown && modelGraph.peek() !== null) forget();
    if (step.value !== 'sensitivity' || picture.value !== 'graph' || current === shown) return;
    shown = current;
    if (current !== null) void untracked(() => read(current));
  });
  const stopLaying = effect(() => {
    const now = folded.value;
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    if (modelGraph.value !== null) void untracked(() => layOut(now, signal));
  });
  return () => {
    stopReading();
    stopLaying();
  };
}

function forget(): void {
  modelGraph.value = null;
  laidOut.value = null;
  chosenBox.value = null;
  graphProblem.value = null;
}

async function read({ model, revision }: Session, again = false): Promise<void> {
  pending.value = pending.peek() + 1;
  try {
    const graph = await model.graph();
    if (session.peek()?.revision !== revision) return;
    modelGraph.value = graph;
    openBlocks.value = openAtFirst(net.peek(), blocks.peek(), kBoxesAtFirst);
  } catch (cause) {
    if (session.peek()?.revision !== revision) return;
    // A cancelled job may take the worker with it that was reading for us.
    if (isCancel(cause) && !again) return read({ ...session.peek() } as Session, true);
    graphProblem.value = problemFrom(cause, 'Reading the graph');
  } finally {
    pending.value = pending.peek() - 1;
  }
}

/** What is drawn is what shapes a layout: colours and scores don't. */
function sameShape(a: Folded, b: Folded): boolean {
  return (
    a.boxes.length === b.boxes.length &&
    a.links.length === b.links.length &&
    a.boxes.every(({ id }, at) => id === b.boxes[at]?.id) &&
    a.links.every(({ from, to }, at) => from === b.links[at]?.from && to === b.links[at]?.to)
  );
}

async function layOut(now: Folded, signal: AbortSignal): Promise<void> {
  const before = laidOut.peek();
  if (before !== null && sameShape(before.folded, now)) {
    laidOut.value = { folded: now, layout: before.layout };
    return;
  }
  pending.value = pending.peek() + 1;
  try {
    const narrow = globalThis.matchMedia?.('(max-width: 719px)').matches === true;
    const layout = await bench().layOut(
      {
        sizes: now.boxes.map(boxSize),
        links: now.links.map(({ from, to }) => [from, to]),
        aspect: narrow ? kAspect.narrow : kAspect.wide,
      },
      signal,
    );
    if (!signal.aborted) laidOut.value = { folded: now, layout };
  } catch (cause) {
    if (!signal.aborted) graphProblem.value = problemFrom(cause, 'Laying the graph out');
  } finally {
    pending.value = pending.peek() - 1;
  }
}

export function openBlock(id: string): void {
  openBlocks.value = new Set([...openBlocks.value, id]);
}

/** Closes the innermost open block around a node, and all within it. */
export function closeAround(node: number): void {
  const path = blocks.value.paths[node] ?? [];
  const inner = path.filter((id) => openBlocks.value.has(id)).at(-1);
  if (inner === undefined) return;
  openBlocks.value = new Set([...openBlocks.value].filter((id) => id !== inner && !isInside(id, inner)));
  chosenBox.value = `block ${inner}`;
}

function isInside(id: string, outer: string): boolean {
  for (
    let at = blocks.value.all.get(id)?.parent ?? null;
    at !== null;
    at = blocks.value.all.get(at)?.parent ?? null
  )
    if (at === outer) return true;
  return false;
}

export function openAll(): void {
  openBlocks.value = new Set(blocks.value.all.keys());
}

export function closeAll(): void {
  openBlocks.value = new Set();
}

/** Chooses a box, and in the inspector the tensor of it that matters most. */
export function chooseBox(id: string, tensor: string | null): void {
  chosenBox.value = id;
  if (tensor !== null) selected.value = tensor;
}
