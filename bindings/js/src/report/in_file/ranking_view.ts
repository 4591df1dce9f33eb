// The ranking: order, threshold, search and groups act on picture and table together; what is pointed at in one shows in the other.
import type { Axis } from '../axis.js';
import type { Embedded } from '../embedded.js';
import { type Filter, type Group, isActive, matcher, typedGroup } from '../filters.js';
import { graphPositions, markX, markY, plotAxis, rowFacts } from '../ranking_plot.js';
import { higherIsWorse, type RankingRow, rankingRows } from '../ranking_rows.js';
import { byId, element } from './elements.js';
import { rowsByNumber } from './tables.js';
import { ThresholdLine } from './threshold_line.js';

export class RankingView {
  private readonly rows: RankingRow[];
  private readonly axis: Axis;
  private readonly worseIsHigher: boolean;
  private readonly inGraph: number[] | null;
  private readonly marks: SVGGElement[];
  private readonly lines: HTMLTableRowElement[];
  private readonly plot = byId<SVGSVGElement>('plot');
  private readonly tooltip = byId<HTMLElement>('tooltip');
  private readonly limit = byId<HTMLInputElement>('limit');
  private readonly search = byId<HTMLInputElement>('search');
  private readonly threshold: ThresholdLine;
  private readonly groups = new Set<Group>();
  private chosen: number | null = null;

  constructor(private readonly data: Embedded) {
    this.rows = rankingRows(data);
    this.axis = plotAxis(this.rows);
    this.worseIsHigher = higherIsWorse(data.results);
    this.inGraph = graphPositions(this.rows);
    this.marks = [...this.plot.querySelectorAll<SVGGElement>('.mark')];
    this.lines = rowsByNumber(byId<HTMLTableElement>('ranking'));
    this.threshold = new ThresholdLine(this.plot, this.axis, this.worseIsHigher, (value) => {
      this.limit.value = String(value);
      this.show();
    });
    this.connectControls();
    this.connectRows();
    this.show();
  }

  private connectControls(): void {
    const form = document.querySelector<HTMLFormElement>('.controls')!;
    form.hidden = false;
    form.addEventListener('submit', (event) => event.preventDefault());
    for (const input of [this.search, this.limit]) input.addEventListener('input', () => this.show());
    for (const radio of form.querySelectorAll<HTMLInputElement>('[name="order"]'))
      radio.addEventListener('change', () => this.place(radio.value === 'graph'));
    for (const chip of form.querySelectorAll<HTMLButtonElement>('.chip')) {
      const { kind, value } = chip.dataset;
      this.connectChip(chip, { label: '', kind: kind as Group['kind'], value: value ?? '' });
    }
    byId('add-group').addEventListener('click', () => this.addGroup());
    byId<HTMLInputElement>('group').addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.addGroup();
    });
  }

  private connectChip(chip: HTMLButtonElement, group: Group): void {
    chip.addEventListener('click', () => {
      const on = !this.groups.delete(group);
      if (on) this.groups.add(group);
      chip.setAttribute('aria-pressed', String(on));
      this.show();
    });
  }

  private addGroup(): void {
    const input = byId<HTMLInputElement>('group');
    if (input.value === '') return;
    const group = typedGroup(input.value);
    byId('group-problem').textContent =
      group === null
        ? 'This is no regular expression. Close every bracket, and write \\( for a bracket itself.'
        : '';
    if (group === null) return;
    const chip = element('button', group.label, { type: 'button', class: 'chip', 'aria-pressed': 'false' });
    this.connectChip(chip, group);
    byId('chips').append(chip);
    input.value = '';
    chip.click();
  }

  private connectRows(): void {
    for (const [i, mark] of this.marks.entries()) {
      mark.querySelector('title')?.remove(); // The tooltip says the same, at once.
      mark.addEventListener('pointerenter', () => this.choose(i));
      mark.addEventListener('click', () => {
        this.choose(i);
        this.lines[i]?.scrollIntoView({ block: 'nearest' });
      });
    }
    for (const [i, line] of this.lines.entries()) {
      line.tabIndex = -1;
      line.addEventListener('click', () => this.choose(i));
    }
    this.plot.addEventListener('pointerleave', () => {
      this.tooltip.hidden = true;
    });
    byId('ranking').addEventListener('keydown', (event) => this.step(event as KeyboardEvent));
    const first = this.lines[0];
    if (first !== undefined) first.tabIndex = 0;
  }

  /** Up and down in the table, over the rows that are shown. */
  private step(event: KeyboardEvent): void {
    const by = event.key === 'ArrowDown' ? 'nextElementSibling' : 'previousElementSibling';
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    let line = (event.target as Element).closest('tr')?.[by] as HTMLTableRowElement | null | undefined;
    while (line?.hidden) line = line[by] as HTMLTableRowElement | null;
    if (line === null || line === undefined) return;
    event.preventDefault();
    this.choose(Number(line.dataset.row));
    line.focus();
  }

  private get filter(): Filter {
    const limit = this.limit.value === '' ? Number.NaN : Number(this.limit.value);
    return {
      threshold: Number.isFinite(limit) ? limit : null,
      search: this.search.value,
      groups: [...this.groups],
    };
  }

  private show(): void {
    const { filter } = this;
    const active = isActive(filter);
    const takes = matcher(filter, this.worseIsHigher);
    let count = 0;
    for (const [i, row] of this.rows.entries()) {
      const hit = takes(row);
      if (hit) count++;
      this.marks[i]?.classList.toggle('hit', active && hit);
      this.marks[i]?.classList.toggle('miss', active && !hit);
      if (this.lines[i] !== undefined) this.lines[i].hidden = !hit;
    }
    byId('matching').textContent = active
      ? `${count} of ${this.rows.length} match`
      : `${this.rows.length} rows, no filter`;
    this.threshold.show(filter.threshold);
  }

  private place(graphOrder: boolean): void {
    const positions = graphOrder ? this.inGraph : null;
    for (const [i, mark] of this.marks.entries())
      mark.setAttribute('transform', `translate(${markX(positions?.[i] ?? i, this.rows.length)})`);
    byId('plot-order').textContent = positions === null ? 'worst first' : 'graph order';
    if (this.chosen !== null) this.choose(this.chosen);
  }

  private choose(i: number): void {
    if (this.chosen !== null) {
      this.marks[this.chosen]?.classList.remove('chosen');
      this.lines[this.chosen]?.classList.remove('chosen');
    }
    this.chosen = i;
    this.marks[i]?.classList.add('chosen');
    this.lines[i]?.classList.add('chosen');
    this.describe(i);
  }

  private describe(i: number): void {
    const row = this.rows[i]!;
    this.tooltip.replaceChildren(
      ...rowFacts(row, this.data.results).map(([name, value]) => {
        const line = element('div');
        line.append(element('b', name), ` ${value}`);
        return line;
      }),
    );
    this.tooltip.hidden = false;
    const box = this.plot.getBoundingClientRect();
    const scale = box.width / this.plot.viewBox.baseVal.width;
    const x = markX(this.positionOf(i), this.rows.length) * scale;
    const y = markY(this.axis, row.score, this.worseIsHigher) * scale;
    const left = x > box.width / 2;
    this.tooltip.style.left = left ? 'auto' : `${x + 14}px`;
    this.tooltip.style.right = left ? `${box.width - x + 14}px` : 'auto';
    this.tooltip.style.top = `${y}px`;
  }

  private positionOf(i: number): number {
    const inGraph = byId('plot-order').textContent === 'graph order';
    return inGraph ? (this.inGraph?.[i] ?? i) : i;
  }
}
