// What part of a box that scrolls is in sight, for pictures that draw only that.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface BoxView {
  width: number;
  height: number;
  top: number;
}

export function useBoxView(): { box: { current: HTMLElement | null }; view: BoxView; measure: () => void } {
  const box = useRef<HTMLElement>(null);
  const [view, setView] = useState<BoxView>({ width: 640, height: 400, top: 0 });
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    const next = { width: element.clientWidth, top: element.scrollTop, height: element.clientHeight };
    setView((old) =>
      old.width === next.width && old.top === next.top && old.height === next.height ? old : next,
    );
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, view, measure };
}
