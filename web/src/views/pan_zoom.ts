// Moving a picture under the pointer: drag, wheel, two fingers, keys. The transform is set on the element itself, so that
// moving draws nothing anew; what is drawn follows only when the part in sight leaves it.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Sight } from '../pictures/graph';

export interface Extent {
  width: number;
  height: number;
}

interface Transform {
  scale: number;
  x: number;
  y: number;
}

const kLeastScale = 0.02;
const kMostScale = 2.5;
const kMostFit = 1.1;
/** Below this letters can't be read, and dots are drawn. */
export const kFarScale = 0.5;
const kMargin = 12;
/** What is drawn around the part in sight, as a share of it. */
const kAround = 0.3;
const kDragDistance = 4;

export interface Drawn {
  sight: Sight;
  far: boolean;
}

export class PanZoom {
  private now: Transform = { scale: 1, x: 0, y: 0 };
  private view: Extent = { width: 640, height: 400 };
  private drawn: (Drawn & { scale: number }) | null = null;
  private group: SVGGElement | null = null;
  private frame = 0;
  /** Dragging just ended: the click that follows is none. */
  dragged = false;

  constructor(private readonly onDrawn: (drawn: Drawn) => void) {}

  attach(group: SVGGElement | null): void {
    this.group = group;
    this.apply();
  }

  resize(view: Extent): void {
    this.view = view;
    this.apply();
  }

  fit({ width, height }: Extent): void {
    const room = { width: this.view.width - 2 * kMargin, height: this.view.height - 2 * kMargin };
    const scale = Math.min(kMostFit, room.width / Math.max(1, width), room.height / Math.max(1, height));
    const x = (this.view.width - width * scale) / 2;
    this.set({ scale, x, y: Math.max(kMargin, (this.view.height - height * scale) / 2) });
  }

  /** Brings a place into sight; one that is there already stays where it is. */
  reveal([x, y]: readonly [number, number], center = false): void {
    const { scale } = this.now;
    const [screenX, screenY] = [x * scale + this.now.x, y * scale + this.now.y];
    const inside =
      screenX > 60 && screenX < this.view.width - 60 && screenY > 30 && screenY < this.view.height - 30;
    if (inside && !center) return;
    this.set({ scale, x: this.view.width / 2 - x * scale, y: this.view.height / 2 - y * scale });
  }

  /** Where a place is shown; undefined for one that is out of sight. */
  onScreen(place: readonly [number, number] | undefined): Pointer | undefined {
    if (place === undefined) return undefined;
    const [x, y] = [place[0] * this.now.scale + this.now.x, place[1] * this.now.scale + this.now.y];
    return x < 0 || y < 0 || x > this.view.width || y > this.view.height ? undefined : { x, y };
  }

  moveBy(dx: number, dy: number): void {
    this.set({ ...this.now, x: this.now.x + dx, y: this.now.y + dy });
  }

  /** Around a point of the box, which stays where it is. */
  zoomBy(factor: number, at = { x: this.view.width / 2, y: this.view.height / 2 }): void {
    const scale = Math.min(kMostScale, Math.max(kLeastScale, this.now.scale * factor));
    const ratio = scale / this.now.scale;
    this.set({ scale, x: at.x - (at.x - this.now.x) * ratio, y: at.y - (at.y - this.now.y) * ratio });
  }

  private set(next: Transform): void {
    this.now = next;
    this.apply();
  }

  private apply(): void {
    const { scale, x, y } = this.now;
    this.group?.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.follow();
    });
  }

  /** Draws again when something comes into sight that isn't drawn, or when there is far more than what is in sight. */
  private follow(): void {
    const { scale, x, y } = this.now;
    const far = scale < kFarScale;
    const sight = {
      left: -x / scale,
      top: -y / scale,
      right: (this.view.width - x) / scale,
      bottom: (this.view.height - y) / scale,
    };
    const { drawn } = this;
    const fits =
      drawn !== null &&
      drawn.far === far &&
      drawn.scale < scale * 2.2 &&
      drawn.scale > scale / 2.2 &&
      sight.left >= drawn.sight.left &&
      sight.right <= drawn.sight.right &&
      sight.top >= drawn.sight.top &&
      sight.bottom <= drawn.sight.bottom;
    if (fits) return;
    const [dx, dy] = [(sight.right - sight.left) * kAround, (sight.bottom - sight.top) * kAround];
    const wide = {
      left: sight.left - dx,
      top: sight.top - dy,
      right: sight.right + dx,
      bottom: sight.bottom + dy,
    };
    this.drawn = { sight: wide, far, scale };
    this.onDrawn({ sight: wide, far });
  }
}

interface Pointer {
  x: number;
  y: number;
}

/** Listens on the box: one pointer drags, two zoom, the wheel zooms. */
function listen(box: HTMLElement, pan: PanZoom): () => void {
  const pointers = new Map<number, Pointer>();
  let travelled = 0;
  const place = ({ clientX, clientY }: { clientX: number; clientY: number }): Pointer => {
    const { left, top } = box.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const spread = (): { middle: Pointer; distance: number } => {
    const [a = { x: 0, y: 0 }, b = a] = [...pointers.values()];
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    return { middle, distance: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, place(event));
    travelled = 0;
    pan.dragged = false;
  };
  const move = (event: PointerEvent): void => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const was = spread();
    const now = place(event);
    pointers.set(event.pointerId, now);
    const is = spread();
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (travelled > kDragDistance && !pan.dragged) {
      pan.dragged = true;
      box.setPointerCapture(event.pointerId);
    }
    if (!pan.dragged) return;
    if (pointers.size > 1 && was.distance > 0) pan.zoomBy(is.distance / was.distance, is.middle);
    pan.moveBy(is.middle.x - was.middle.x, is.middle.y - was.middle.y);
  };
  const up = (event: PointerEvent): void => {
    pointers.delete(event.pointerId);
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : 1;
    pan.zoomBy(Math.exp(-Math.max(-160, Math.min(160, event.deltaY * lines)) * 0.0022), place(event));
  };
  box.addEventListener('pointerdown', down);
  box.addEventListener('pointermove', move);
  box.addEventListener('pointerup', up);
  box.addEventListener('pointercancel', up);
  box.addEventListener('wheel', wheel, { passive: false });
  return () => {
    box.removeEventListener('pointerdown', down);
    box.removeEventListener('pointermove', move);
    box.removeEventListener('pointerup', up);
    box.removeEventListener('pointercancel', up);
    box.removeEventListener('wheel', wheel);
  };
}

export function usePanZoom(view: Extent): {
  box: { current: HTMLElement | null };
  group: { current: SVGGElement | null };
  pan: PanZoom;
  drawn: Drawn | null;
} {
  const group = useRef<SVGGElement>(null);
  const box = useRef<HTMLElement>(null);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const held = useRef<PanZoom | null>(null);
  held.current ??= new PanZoom(setDrawn);
  const pan = held.current;
  useLayoutEffect(() => {
    pan.attach(group.current);
    return box.current === null ? undefined : listen(box.current, pan);
  }, []);
  useLayoutEffect(() => pan.resize(view), [view.width, view.height]);
  return { box, group, pan, drawn };
}
