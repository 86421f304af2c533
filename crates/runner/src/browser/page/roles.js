// Roles, names and states of elements, and the numbers in their references.
globalThis.deskhandRoles ??= (() => {
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
  const INPUT_ROLES = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color',
  };
  const TAG_ROLES = {
    ARTICLE: 'article', ASIDE: 'complementary', BUTTON: 'button', DETAILS: 'group', DIALOG: 'dialog',
    FIELDSET: 'group', FORM: 'form', H1: 'h1', H2: 'h2', H3: 'h3', H4: 'h4',
    H5: 'h5', H6: 'h6', HR: 'separator', IFRAME: 'frame', FRAME: 'frame', IMG: 'img', LI: 'listitem',
    MAIN: 'main', METER: 'meter', NAV: 'navigation', OL: 'list', OPTION: 'option', OUTPUT: 'status',
    PROGRESS: 'progressbar', SUMMARY: 'button', TABLE: 'table', TD: 'cell', TEXTAREA: 'textbox', TH: 'header',
    TR: 'row', UL: 'list', CANVAS: 'canvas', VIDEO: 'video', AUDIO: 'audio',
  };
  const USABLE = new Set(['button', 'checkbox', 'radio', 'slider', 'spinbutton', 'searchbox', 'file', 'color',
    'textbox', 'combobox', 'listbox', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch',
    'tab', 'treeitem', 'frame', 'canvas', 'video', 'audio', 'clickable']);
  const NAMED_BY_CONTENT = new Set(['button', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch',
    'tab', 'treeitem', 'checkbox', 'radio', 'clickable']);

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
    if (given && /^[a-z]+$/.test(given) && given !== 'presentation' && given !== 'none' && given !== 'generic') {
      if (given === 'heading') return 'h' + (/^[1-9]$/.exec(element.getAttribute('aria-level')) ?? '2');
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
  const byId = (element, ids) => ids.split(/\s+/).map(id => element.getRootNode().getElementById?.(id)).filter(Boolean);
  const nameOf = (element, role, most = 200) => {
    const by = byId(element, element.getAttribute('aria-labelledby') ?? '');
    // A group that one of its own headings names is read with that heading.
    if (!USABLE.has(role) && by.some(named => element.contains(named))) return '';
    const named = oneLine(by.map(one => textOf(one)).join(' '), most);
    if (named) return named;
    const label = element.getAttribute('aria-label');
    if (label?.trim()) return oneLine(label, most);
    if (element.labels?.length) {
      const text = oneLine([...element.labels].map(label => textOf(label)).join(' '), most);
      if (text) return text;
    }
    if (element.tagName === 'INPUT' && ['button', 'submit', 'reset'].includes(element.type)) {
      return oneLine(element.value || element.type);
    }
    if (element.alt) return oneLine(element.alt);
    if (element.tagName === 'FIELDSET') return oneLine(element.querySelector('legend')?.textContent);
    if (NAMED_BY_CONTENT.has(role)) {
      const text = oneLine(textOf(element, most), most);
      if (text) return text;
    }
    return oneLine(element.title || element.placeholder || element.getAttribute('aria-placeholder') || '');
  };
  const stateOf = element => {
    const states = [];
    const is = name => element.getAttribute('aria-' + name);
    const isOpen = element.tagName === 'SUMMARY' ? element.parentElement?.open : undefined;
    if (element.checked || is('checked') === 'true' || is('pressed') === 'true') states.push('checked');
    if (element.disabled || is('disabled') === 'true') states.push('disabled');
    if (is('expanded') === 'true' || isOpen === true) states.push('expanded');
    if (is('expanded') === 'false' || isOpen === false) states.push('collapsed');
    if (is('selected') === 'true') states.push('selected');
    if (is('current') && is('current') !== 'false') states.push('current');
    if (element.readOnly) states.push('readonly');
    if (element.required) states.push('required');
    if (is('invalid') === 'true') states.push('invalid');
    if (element === element.getRootNode().activeElement && element !== document.body) states.push('focused');
    return states;
  };
  const valueOf = (element, role) => {
    const is = name => element.getAttribute('aria-' + name);
    let value = '';
    if (element.tagName === 'SELECT') value = [...element.selectedOptions].map(o => oneLine(o.label, 80)).join(', ');
    else if (element.type === 'password') value = element.value ? '•••' : '';
    else if (element.type === 'file') value = [...element.files].map(file => file.name).join(', ');
    else if (['textbox', 'searchbox', 'spinbutton', 'slider', 'combobox', 'color'].includes(role)) {
      value = element.value ?? (element.isContentEditable ? textOf(element) : is('valuetext') ?? is('valuenow') ?? '');
    } else if (element.tagName === 'PROGRESS' || element.tagName === 'METER') value = String(element.value);
    else if (role === 'progressbar' || role === 'meter') value = is('valuetext') ?? is('valuenow') ?? '';
    return oneLine(value, 120);
  };

  return { SKIPPED, BLOCKS, USABLE, NAMED_BY_CONTENT, refOf, find, oneLine, childrenOf, parentOf, roleOf, textOf, nameOf, stateOf, valueOf };
})();
