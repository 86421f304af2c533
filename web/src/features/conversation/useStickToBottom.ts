import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** The distance from the end, in pixels, that still counts as the end. */
const NEAR_PX = 48;

interface StickToBottom {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  isAtBottom: boolean;
  scrollToBottom: () => void;
}

/** Keeps the end in view while the content grows, unless the user has scrolled up to read. */
export function useStickToBottom(): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [isAtBottom, setIsAtBottom] = useState(true);

  const scrollToBottom = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    sticks.current = true;
    setIsAtBottom(true);
    box.scrollTop = box.scrollHeight;
  }, []);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    let lastTop = box.scrollTop;
    let lastSize = sizeOf(box);
    const onScroll = () => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight <= NEAR_PX;
      // Content that grows between two scrolls moves the end away. Only a move up comes from a
      // person, unless the browser keeps its place while the box gets another size.
      const size = sizeOf(box);
      if (isNear) sticks.current = true;
      else if (box.scrollTop < lastTop && size === lastSize) sticks.current = false;
      lastTop = box.scrollTop;
      lastSize = size;
      setIsAtBottom(sticks.current);
    };
    const observer = new ResizeObserver(() => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(box);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", onScroll);
    };
  }, []);

  return { scroller, content, isAtBottom, scrollToBottom };
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement): string {
  return `${clientWidth} ${clientHeight}`;
}
