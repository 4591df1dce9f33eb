// Elements that the file has, and new ones. Text goes in as text, never as markup.

export function byId<T extends Element>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The report has no element ${id}.`);
  return found as unknown as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = '',
  attributes: Record<string, string> = {},
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svgElement(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(SVG, tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

export function button(text: string, action: () => void): HTMLButtonElement {
  const made = element('button', text, { type: 'button' });
  made.addEventListener('click', action);
  return made;
}
