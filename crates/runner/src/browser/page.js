// Our helpers in a page. They run in a world of their own, which shares only the document with the page's scripts.
globalThis.deskhandPage ??= (() => {
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE']);
  const BLOCKS = /^(block|flex|grid|table|list-item|flow-root|table-row|table-cell|table-caption)/;
  const numbers = new WeakMap();
  const elements = new Map();
  let lastNumber = 0;

  const refOf = element => {
    let number = numbers.get(element);
    if (!number) {
      number = ++lastNumber;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return number;
  };
  const find = number => {
    const element = elements.get(number)?.deref();
    return element?.isConnected ? element : null;
  };
  // The next frame, or a moment if the page is not painted at present.
  const frame = () => new Promise(done => {
    const timer = setTimeout(done, 50);
    requestAnimationFrame(() => { clearTimeout(timer); done(); });
  });
  const oneLine = (text, most = 200) => {
    const line = (text ?? '').replace(/\s+/g, ' ').trim();
    return line.length > most ? line.slice(0, most) + '…' : line;
  };
  const childrenOf = node => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.tagName === 'SLOT') {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    return node.childNodes;
  };
  const parentOf = node => node.assignedSlot ?? node.parentNode ?? node.host ?? null;

  // ---- Roles and names ----

  const INPUT_ROLES = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color',
  };
  const TAG_ROLES = {
    ARTICLE: 'article', ASIDE: 'complementary', BUTTON: 'button', DETAILS: 'group', DIALOG: 'dialog',
    FIELDSET: 'group', FORM: 'form', H1: 'heading1', H2: 'heading2', H3: 'heading3', H4: 'heading4',
    H5: 'heading5', H6: 'heading6', HR: 'separator', IFRAME: 'frame', FRAME: 'frame', IMG: 'img', LI: 'listitem',
    MAIN: 'main', METER: 'meter', NAV: 'navigation', OL: 'list', OPTION: 'option', OUTPUT: 'status',
    PROGRESS: 'progressbar', SUMMARY: 'button', TABLE: 'table', TD: 'cell', TEXTAREA: 'textbox', TH: 'header',
    TR: 'row', UL: 'list', CANVAS: 'canvas', VIDEO: 'video', AUDIO: 'audio',
  };
  const USABLE = new Set(['button', 'checkbox', 'radio', 'slider', 'spinbutton', 'searchbox', 'file', 'color',
    'textbox', 'combobox', 'listbox', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch',
    'tab', 'treeitem', 'frame', 'canvas', 'video', 'audio', 'clickable']);
  const NAMED_BY_CONTENT = new Set(['button', 'link', 'heading1', 'heading2', 'heading3', 'heading4', 'heading5',
    'heading6', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch', 'tab', 'treeitem', 'checkbox',
    'radio', 'clickable', 'cell', 'header']);

  const isClickable = (element, style) =>
    element.hasAttribute('onclick') || element.tabIndex >= 0 && element.hasAttribute('tabindex')
    || element.draggable && element.hasAttribute('draggable')
    || style.cursor === 'pointer' && getComputedStyle(parentElementOf(element) ?? element).cursor !== 'pointer';
  const parentElementOf = element => {
    const parent = parentOf(element);
    return parent instanceof Element ? parent : parent?.host ?? null;
  };
  const roleOf = (element, style) => {
    const given = element.getAttribute('role')?.trim().split(/\s+/)[0];
    if (given && given !== 'presentation' && given !== 'none' && given !== 'generic') {
      if (given === 'heading') return 'heading' + (element.getAttribute('aria-level') ?? '2');
      return given === 'gridcell' ? 'cell' : given === 'columnheader' || given === 'rowheader' ? 'header' : given;
    }
    const tag = element.tagName;
    if (tag === 'A' && element.hasAttribute('href')) return 'link';
    if (tag === 'INPUT') return INPUT_ROLES[element.type] ?? (element.list ? 'combobox' : 'textbox');
    if (tag === 'SELECT') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    if (element.isContentEditable && !parentElementOf(element)?.isContentEditable) return 'textbox';
    if (given) return isClickable(element, style) ? 'clickable' : '';
    if (tag === 'IMG' && element.alt === '') return '';
    return TAG_ROLES[tag] ?? (isClickable(element, style) ? 'clickable' : '');
  };
  const textOf = (element, most = 400) => {
    let text = '';
    const visit = node => {
      if (text.length > most) return;
      if (node.nodeType === Node.TEXT_NODE) { text += node.data; return; }
      if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.tagName)) return;
      if (node.tagName === 'IMG') { text += ' ' + (node.alt ?? '') + ' '; return; }
      if (node.tagName === 'SELECT' || node.tagName === 'TEXTAREA') return;
      if (node.getAttribute('aria-hidden') === 'true') return;
      const style = getComputedStyle(node);
      if (style.display === 'none' || style.visibility === 'hidden') return;
      const isBlock = BLOCKS.test(style.display);
      if (isBlock) text += ' ';
      for (const child of childrenOf(node)) visit(child);
      if (isBlock || node.tagName === 'BR') text += ' ';
    };
    for (const child of childrenOf(element)) visit(child);
    return text;
  };
  const nameOf = (element, role) => {
    const by = element.getAttribute('aria-labelledby');
    if (by) {
      const texts = by.split(/\s+/).map(id => element.getRootNode().getElementById?.(id)).filter(Boolean).map(e => textOf(e));
      if (oneLine(texts.join(' '))) return oneLine(texts.join(' '));
    }
    const label = element.getAttribute('aria-label');
    if (label?.trim()) return oneLine(label);
    if (element.labels?.length) {
      const text = oneLine([...element.labels].map(label => textOf(label)).join(' '));
      if (text) return text;
    }
    if (element.tagName === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type)) {
      return oneLine(element.value || element.type);
    }
    if (element.alt) return oneLine(element.alt);
    if (element.tagName === 'FIELDSET') return oneLine(element.querySelector('legend')?.textContent);
    if (element.tagName === 'OPTION') return oneLine(element.label);
    if (NAMED_BY_CONTENT.has(role)) {
      const text = oneLine(textOf(element));
      if (text) return text;
    }
    return oneLine(element.title || element.placeholder || element.getAttribute('aria-placeholder') || '');
  };
  const stateOf = (element, role) => {
    const states = [];
    const is = name => element.getAttribute('aria-' + name);
    if (element.checked || is('checked') === 'true' || is('pressed') === 'true') states.push('checked');
    if (element.disabled || is('disabled') === 'true') states.push('disabled');
    if (is('expanded') === 'true' || element.tagName === 'DETAILS' && element.open) states.push('expanded');
    if (is('expanded') === 'false') states.push('collapsed');
    if (is('selected') === 'true') states.push('selected');
    if (element.readOnly) states.push('readonly');
    if (element.required) states.push('required');
    if (element === element.getRootNode().activeElement && element !== document.body) states.push('focused');
    let value = '';
    if (element.tagName === 'SELECT') value = [...element.selectedOptions].map(o => oneLine(o.label, 80)).join(', ');
    else if (element.type === 'password') value = element.value ? '•••' : '';
    else if (element.type === 'file') value = [...element.files].map(file => file.name).join(', ');
    else if (['textbox', 'searchbox', 'spinbutton', 'slider', 'combobox', 'color'].includes(role)) {
      value = element.value ?? (element.isContentEditable ? textOf(element) : is('valuetext') ?? is('valuenow') ?? '');
    } else if (element.tagName === 'PROGRESS' || element.tagName === 'METER') value = String(element.value);
    value = oneLine(value, 120);
    return (value ? ` =${JSON.stringify(value)}` : '') + (states.length ? ' ' + states.join(' ') : '');
  };

  // ---- The tree ----

  // Returns lines of [depth, text, reference if it is a frame].
  const tree = (filter, root, mostCharacters) => {
    const lines = [];
    const until = performance.now() + 1500;
    let nCharacters = 0;
    let isCut = false;
    const onlyUsable = filter === 'interactive';
    const put = (depth, text, frameRef = 0) => {
      if (nCharacters + text.length + depth > mostCharacters || performance.now() > until) { isCut = true; return; }
      nCharacters += text.length + depth + 1;
      lines.push([depth, text, frameRef]);
    };
    const putText = (depth, texts) => {
      const text = oneLine(texts.join(''), 1000);
      texts.length = 0;
      if (text && !onlyUsable) put(depth, JSON.stringify(text));
    };
    // Returns true if a row can be written on one line.
    const isPlainRow = element => [...element.cells ?? []].every(cell => !cell.querySelector('*:not(b,i,em,strong,span,br,small,code,div,p)'));
    const visitAll = (element, depth, isSilent, texts) => {
      const own = texts ?? [];
      for (const child of childrenOf(element)) {
        if (isCut) return;
        if (child.nodeType === Node.TEXT_NODE) { if (!isSilent) own.push(child.data); continue; }
        if (child.nodeType === Node.ELEMENT_NODE) visit(child, depth, isSilent, own);
      }
      if (!texts) putText(depth, own);
    };
    const visit = (element, depth, isSilent, texts) => {
      if (SKIPPED.has(element.tagName) || element.getAttribute('aria-hidden') === 'true') return;
      const style = getComputedStyle(element);
      if (style.display === 'none') return;
      const isHidden = style.visibility !== 'visible';
      const role = isHidden ? '' : roleOf(element, style);
      if (element.tagName === 'LABEL' && element.control) { visitAll(element, depth, true, null); return; }
      if (!role) {
        const isBlock = BLOCKS.test(style.display);
        if (isBlock) putText(depth, texts);
        if (element.tagName === 'BR') texts.push(' ');
        visitAll(element, depth, isSilent || isHidden, texts);
        if (isBlock) putText(depth, texts);
        return;
      }
      putText(depth, texts);
      const isUsable = USABLE.has(role);
      if (onlyUsable && !isUsable) { visitAll(element, depth, isSilent, []); return; }
      if (role === 'row' && !onlyUsable && isPlainRow(element)) {
        put(depth, '| ' + [...element.cells].map(cell => oneLine(textOf(cell))).join(' | '));
        return;
      }
      if (role === 'option' && element.tagName === 'OPTION') return;
      const name = nameOf(element, role);
      const isByContent = NAMED_BY_CONTENT.has(role) && name === oneLine(textOf(element));
      if (role === 'listitem' && !name) { item(element, depth, isSilent); return; }
      const shown = name ? ` ${JSON.stringify(name)}` : '';
      const ref = isUsable ? ` @${refOf(element)}` : '';
      put(depth, role + shown + ref + stateOf(element, role), role === 'frame' ? refOf(element) : 0);
      if (element.tagName === 'SELECT') { options(element, depth); return; }
      if (role === 'textbox' && !element.shadowRoot && !element.querySelector?.('a,button,input')) return;
      visitAll(element, depth + 1, isSilent || isByContent, null);
    };
    // Writes a list item in front of its first line.
    const item = (element, depth, isSilent) => {
      const before = lines.length;
      visitAll(element, depth, isSilent, null);
      if (lines.length > before && !onlyUsable) {
        lines[before][1] = '- ' + lines[before][1];
        for (const line of lines.slice(before + 1)) line[0] += 1;
      }
    };
    const options = (element, depth) => {
      const labels = [...element.options].slice(0, 40).map(option => oneLine(option.label, 60));
      const more = element.options.length > 40 ? ` and ${element.options.length - 40} more` : '';
      if (labels.length) put(depth + 1, 'options ' + labels.map(label => JSON.stringify(label)).join(' ') + more);
    };
    if (root) visit(root, 0, false, []);
    else if (document.body) visitAll(document.body, 0, false, null);
    return { lines, isCut };
  };

  // ---- Waiting ----

  // Resolves when the page has not changed for two frames, or after `most` milliseconds.
  const quiet = async most => {
    const until = performance.now() + most;
    let nChanges = 0;
    const observer = new MutationObserver(() => { nChanges += 1; });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    try {
      for (let nStill = 0; nStill < 2 && performance.now() < until;) {
        const before = nChanges;
        await frame();
        nStill = nChanges === before ? nStill + 1 : 0;
      }
    } finally {
      observer.disconnect();
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
  const topAt = (x, y) => {
    let top = document.elementFromPoint(x, y);
    while (top?.shadowRoot) {
      const inner = top.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === top) break;
      top = inner;
    }
    return top;
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
        const labels = [...element.labels ?? []];
        const free = points.find(({ x, y }) => {
          const top = topAt(x, y);
          return isIn(top, element) || labels.some(label => isIn(top, label));
        });
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
    return { text: text.slice(0, most), isCut: text.length > most };
  };
  const storage = () => Object.entries(localStorage).map(([name, value]) => ({ name, value }));
  const store = items => { for (const { name, value } of items) localStorage.setItem(name, value); return true; };

  return { refOf, find, tree, quiet, waitFor, ready, boxOf, fill, select, scrollTo, viewport, pageText, storage, store };
})();
