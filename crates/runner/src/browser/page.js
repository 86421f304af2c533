// Our helpers in a page. They run in a world of their own, which shares only the document with the page's scripts.
globalThis.deskhandPage ??= (() => {
  const { SKIPPED, BLOCKS, refOf, find, oneLine, childrenOf, parentOf, roleOf, textOf } = deskhandRoles;
  const { topAt } = deskhandPointed;
  // The next frame, or a moment if the page is not painted at present.
  const frame = () => new Promise(done => {
    const timer = setTimeout(done, 50);
    requestAnimationFrame(() => { clearTimeout(timer); done(); });
  });

  // ---- Waiting ----

  // Counts the changes of the document from now on.
  const countChanges = () => {
    let nChanges = 0;
    const observer = new MutationObserver(() => { nChanges += 1; });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    return { count: () => nChanges += observer.takeRecords().length, end: () => observer.disconnect() };
  };
  // The changes since a field was entered.
  let sinceEntered = null;
  // Resolves when the page has not changed for some frames, or after `most` milliseconds. One frame is enough only if
  // nothing has changed since a field was entered. Otherwise there are two.
  const quiet = async (most, nFrames) => {
    const until = performance.now() + most;
    const entered = sinceEntered;
    sinceEntered = null;
    const isUntouched = nFrames === 1 && entered?.count() === 0;
    if (!isUntouched) entered?.end();
    const changes = isUntouched ? entered : countChanges();
    try {
      for (let nStill = isUntouched ? 1 : 0; nStill < 2 && performance.now() < until;) {
        const before = changes.count();
        await frame();
        nStill = changes.count() === before ? nStill + 1 : 0;
      }
    } finally {
      changes.end();
    }
    return true;
  };
  const isVisible = element => element.checkVisibility({ visibilityProperty: true });
  const holds = (kind, wanted) => {
    if (kind === 'selector') return [...document.querySelectorAll(wanted)].some(isVisible);
    const has = oneLine(textOf(document.documentElement, 5e6), 5e6).toLowerCase().includes(oneLine(wanted, 1e5).toLowerCase());
    return kind === 'text' ? has : !has;
  };
  // Resolves with true when a condition holds, or with false after `most` milliseconds.
  const waitFor = (kind, wanted, most) => new Promise((done, failed) => {
    let timer;
    let poll;
    const observer = new MutationObserver(() => check());
    const end = result => { observer.disconnect(); clearTimeout(timer); clearInterval(poll); done(result); };
    const check = () => {
      try { if (holds(kind, wanted)) end(true); } catch (error) { observer.disconnect(); clearInterval(poll); failed(error); }
    };
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    timer = setTimeout(() => end(false), most);
    // Styles and shadow trees change without a mutation that is seen here.
    poll = setInterval(check, 200);
    check();
  });

  // ---- Elements ----

  const describe = element => {
    const style = getComputedStyle(element);
    const name = oneLine(element.getAttribute('aria-label') ?? element.textContent, 40);
    const id = element.id ? '#' + oneLine(element.id, 40) : '';
    return (roleOf(element, style) || element.tagName.toLowerCase()) + id + (name ? ` ${JSON.stringify(name)}` : '');
  };
  const isIn = (node, wanted) => {
    for (let one = node; one; one = parentOf(one)) if (one === wanted) return true;
    return false;
  };
  const pointsIn = element => {
    const rects = [...element.getClientRects()].map(rect => ({
      x0: Math.max(rect.left, 0), y0: Math.max(rect.top, 0),
      x1: Math.min(rect.right, innerWidth), y1: Math.min(rect.bottom, innerHeight),
    })).filter(rect => rect.x1 - rect.x0 > 0.5 && rect.y1 - rect.y0 > 0.5);
    const at = (rect, across, down) => ({
      x: rect.x0 + (rect.x1 - rect.x0) * across, y: rect.y0 + (rect.y1 - rect.y0) * down,
    });
    const places = [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]];
    return rects.slice(0, 8).flatMap(rect => places.map(([across, down]) => at(rect, across, down)));
  };
  // Returns the first point at which nothing covers an element or its labels.
  const freeOf = (element, points) => {
    const labels = [...element.labels ?? []];
    return points.find(({ x, y }) => {
      const top = topAt(x, y);
      return isIn(top, element) || labels.some(label => isIn(top, label));
    });
  };
  // Waits until an element can be clicked, and returns the point for it in this frame.
  const ready = async (number, most) => {
    const until = performance.now() + most;
    const moving = performance.now() + most / 2;
    let problem = { error: 'hidden' };
    for (;;) {
      const element = find(number);
      if (!element) return { error: 'stale' };
      element.scrollIntoViewIfNeeded(true);
      const before = element.getBoundingClientRect();
      await frame();
      const after = element.getBoundingClientRect();
      const isStill = ['left', 'top', 'width', 'height'].every(side => before[side] === after[side]);
      if (!isVisible(element)) problem = { error: 'hidden' };
      else if (element.disabled) problem = { error: 'disabled' };
      else if (!isStill && performance.now() < moving) problem = { error: 'moving' };
      else {
        const points = pointsIn(element);
        const free = freeOf(element, points);
        if (free) return free;
        const top = points.length ? topAt(points[0].x, points[0].y) : null;
        problem = top ? { error: 'covered', by: describe(top) } : { error: 'hidden' };
      }
      if (performance.now() > until) return problem;
    }
  };
  const boxOf = number => {
    const element = find(number);
    if (!element) return { error: 'stale' };
    element.scrollIntoViewIfNeeded(true);
    const { left, top, width, height } = element.getBoundingClientRect();
    return { x: left + scrollX, y: top + scrollY, width, height };
  };
  const tell = element => {
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const TYPED = new Set(['text', 'search', 'url', 'tel', 'password', 'email', 'number']);
  // Focuses a field that text is typed into, with the caret at its end. Returns `click` for everything that only a click
  // may prepare for typing, and for a field that cannot be used now, for which a click waits.
  const enter = number => {
    const element = find(number);
    if (!element) return 'stale';
    const isField = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement && TYPED.has(element.type);
    if (isField && element.readOnly) return 'locked';
    if (!isField && !element.isContentEditable || element.matches(':disabled') || !isVisible(element)) return 'click';
    sinceEntered?.end();
    sinceEntered = countChanges();
    element.scrollIntoViewIfNeeded(true);
    if (!document.hasFocus() || !freeOf(element, pointsIn(element))) return 'click';
    element.focus({ preventScroll: true });
    const editor = element.isContentEditable ? editorOf(element) : element;
    if (editor.getRootNode().activeElement !== editor) return 'click';
    if (!isField) getSelection().selectAllChildren(element);
    if (!isField) getSelection().collapseToEnd();
    else if (element.type === 'email' || element.type === 'number') getSelection().modify('move', 'forward', 'documentboundary');
    else element.setSelectionRange(element.value.length, element.value.length);
    return 'done';
  };
  // Returns the element that is edited as a whole and has the focus for its parts.
  const editorOf = element => {
    let editor = element;
    while (editor.parentElement?.isContentEditable) editor = editor.parentElement;
    return editor;
  };
  // Prepares a field for a text. Returns `insert` if the text is to be inserted now.
  const fill = (number, value) => {
    const element = find(number);
    if (!element) return 'stale';
    if (element.disabled || element.readOnly) return 'locked';
    if (element.isContentEditable) {
      element.focus();
      getSelection().selectAllChildren(element);
      return 'insert';
    }
    if (element instanceof HTMLSelectElement) return 'select';
    if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return 'other';
    if (['checkbox', 'radio'].includes(element.type)) return element.checked === (value === 'true') ? 'done' : 'click';
    if (['file', 'button', 'submit', 'reset', 'image', 'hidden'].includes(element.type)) return 'other';
    element.focus();
    if (['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(element.type)) {
      const proto = HTMLInputElement.prototype;
      Object.getOwnPropertyDescriptor(proto, 'value').set.call(element, value);
      tell(element);
      return element.value === value ? 'done' : 'refused';
    }
    element.select();
    return 'insert';
  };
  const select = (number, wanted) => {
    const element = find(number);
    if (!element) return 'stale';
    if (!(element instanceof HTMLSelectElement)) return 'other';
    if (element.disabled) return 'locked';
    const options = [...element.options];
    const found = wanted.map(one => options.find(option => option.value === one) ?? options.find(option => oneLine(option.label) === oneLine(one)));
    if (found.includes(undefined)) return 'missing';
    if (found.length > 1 && !element.multiple) return 'single';
    for (const option of options) option.selected = found.includes(option);
    tell(element);
    return 'done';
  };
  const scrollTo = number => {
    const element = find(number);
    element?.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    return !!element;
  };
  const viewport = () => ({
    width: innerWidth, height: innerHeight, ratio: devicePixelRatio, visible: document.visibilityState === 'visible',
    page_width: document.documentElement.scrollWidth, page_height: document.documentElement.scrollHeight,
    scroll_x: scrollX, scroll_y: scrollY,
  });
  // Returns the visible text. Only as much of a large page is looked at as is returned.
  const pageText = most => {
    let text = '';
    const visit = node => {
      if (text.length > 2 * most) return;
      if (node.nodeType === Node.TEXT_NODE) { text += node.data.replace(/\s+/g, ' '); return; }
      if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.tagName)) return;
      const style = getComputedStyle(node);
      if (style.display === 'none' || style.visibility === 'hidden') return;
      const isBlock = BLOCKS.test(style.display);
      const end = style.display === 'table-cell' ? '\t' : '\n';
      if (isBlock && end === '\n') text += '\n';
      for (const child of childrenOf(node)) visit(child);
      if (isBlock || node.tagName === 'BR') text += end;
    };
    if (document.body) visit(document.body);
    text = text.replace(/ *\n\s*/g, '\n').trim();
    const isCut = text.length > most;
    return { text: isCut ? text.slice(0, Math.max(most - 1, 0)) + '…' : text, isCut };
  };
  const setTitle = title => { document.title = title; return true; };
  const storage = () => Object.entries(localStorage).map(([name, value]) => ({ name, value }));
  const store = items => { for (const { name, value } of items) localStorage.setItem(name, value); return true; };

  return { refOf, find, tree: deskhandTree.tree, quiet, waitFor, ready, boxOf, enter, fill, select, scrollTo, viewport, pageText, setTitle, storage, store, player: deskhandPlayer, pointed: deskhandPointed };
})();
