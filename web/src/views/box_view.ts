// What part of a box that scrolls is in sight, for pictures that draw only that.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface BoxView {
  width: number;
  height: number;
  top: number;
  left: number;
}

export function useBoxView(): { box: { current: HTMLElement | null }; view: BoxView; measure: () => void } {
  const box = useRef<HTMLElement>(null);
  const [view, setView] = useState<BoxView>({ width: 640, height: 400, top: 0, left: 0 });
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    const { clientWidth: width, clientHeight: height, scrollTop: top, scrollLeft: left } = element;
    const next = { width, height, top, left };
    setView((old) => (JSON.stringify(old) === JSON.stringify(next) ? old : next));
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, view, measure };
}
