/** The part of noVNC that the page uses. */
declare module "@novnc/novnc" {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, url: string, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    background: string;
    showDotCursor: boolean;
    disconnect(): void;
    focus(options?: FocusOptions): void;
    sendKey(keysym: number, code: string, down?: boolean): void;
  }
}
