import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { View } from "./grid_layout";

export const ROW = 26;
export const HEAD = 44;
/** The tallest box that all browsers draw; longer results scroll by share. */
const TALLEST = 8_000_000;

export interface Scroll {
  view: View;
  /** The height of the body as drawn. */
  drawn: number;
  /** What rows must be moved by to be where the bar is. */
  shift: number;
  /** The height of the rows in view. */
  room: number;
  /** The first pixel in view, of the whole table. */
  top: () => number;
  to: (top: number) => void;
  look: () => void;
}

/** The scrolling of a table of any height: its bar is too coarse for a tall one, whose exact place is kept apart. */
export function useScroll(box: RefObject<HTMLDivElement | null>, rows: number): Scroll {
  const [view, setView] = useState<View>({ top: 0, left: 0, width: 800, height: 400 });
  const exact = useRef(0);
  const whole = rows * ROW;
  const drawn = Math.min(whole, TALLEST);
  const isTall = whole > drawn;
  const room = Math.max(0, view.height - HEAD);
  const [reach, far] = [Math.max(1, drawn - room), Math.max(0, whole - room)];
  const bar = () => (isTall ? (exact.current / Math.max(1, far)) * reach : exact.current);
  const look = () => {
    const element = box.current;
    if (!element) return;
    if (!isTall) exact.current = element.scrollTop;
    // Where this page has put the bar, it is exact; elsewhere the viewer has moved it.
    else if (Math.abs(bar() - element.scrollTop) > 1.5) exact.current = (element.scrollTop / reach) * far;
    setView({ top: exact.current, left: element.scrollLeft, width: element.clientWidth, height: element.clientHeight });
  };
  const to = (top: number) => {
    exact.current = Math.min(far, Math.max(0, top));
    if (box.current) box.current.scrollTop = bar();
    look();
  };
  const latest = useRef({ look, to, room });
  latest.current = { look, to, room };
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => latest.current.look());
    watch.observe(element);
    latest.current.look();
    return () => watch.disconnect();
  }, [whole]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !isTall) return;
    // A turn of the wheel moves by rows, not by shares of a million of them.
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
      event.preventDefault();
      const unit = [1, ROW, latest.current.room][event.deltaMode] ?? 1;
      latest.current.to(exact.current + event.deltaY * unit);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [isTall]);
  const shift = (box.current?.scrollTop ?? 0) - view.top;
  return { view, drawn, shift, room, top: () => exact.current, to, look };
}
