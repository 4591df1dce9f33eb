// The threshold as a line across the picture that can be dragged. Without one it rests, faint, where nothing lies beyond it.
import { type Axis, pixelOf, valueAt } from '../axis.js';
import { byId } from './elements.js';

export class ThresholdLine {
  private readonly line = byId<SVGGElement>('threshold');

  constructor(
    private readonly plot: SVGSVGElement,
    private readonly axis: Axis,
    private readonly worseIsHigher: boolean,
    onMove: (value: number) => void,
  ) {
    this.line.removeAttribute('hidden');
    this.line.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      this.line.setPointerCapture(event.pointerId);
    });
    this.line.addEventListener('pointermove', (event) => {
      if (this.line.hasPointerCapture(event.pointerId)) onMove(this.valueUnder(event));
    });
  }

  show(threshold: number | null): void {
    const rest = this.worseIsHigher ? this.axis.high : this.axis.low;
    const value = Math.min(Math.max(threshold ?? rest, this.axis.low), this.axis.high);
    this.line.setAttribute('transform', `translate(0 ${pixelOf(this.axis, value)})`);
    this.line.classList.toggle('idle', threshold === null);
  }

  /** As few digits as a pixel is worth. */
  private valueUnder({ clientY }: PointerEvent): number {
    const box = this.plot.getBoundingClientRect();
    const pixel = ((clientY - box.top) * this.plot.viewBox.baseVal.height) / box.height;
    const inside = Math.min(Math.max(pixel, this.axis.to), this.axis.from);
    const value = valueAt(this.axis, inside);
    const step = (this.axis.high - this.axis.low) / 1000;
    const digits = Math.max(0, Math.min(20, Math.ceil(-Math.log10(step))));
    return Number(value.toFixed(digits));
  }
}
