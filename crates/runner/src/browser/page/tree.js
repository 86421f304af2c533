// Writes a page as lines of text. An element that can be used stands in brackets where it is: `[button Buy e8]`.
globalThis.deskhandTree ??= (() => {
  const { SKIPPED, BLOCKS, USABLE, NAMED_BY_CONTENT, refOf, oneLine, childrenOf, roleOf, textOf, nameOf, stateOf, valueOf } = deskhandRoles;
  const INNER = ['a[href]', 'button', 'input', 'select', 'textarea', 'summary', 'iframe', '[tabindex]', '[onclick]',
    '[contenteditable]', ...[...USABLE].map(role => `[role=${role}]`)].join();
  // Content that makes a table row too tall for one line.
  const TALL = 'table,iframe,frame,pre,[role=row],[role=listbox]';
  const LONGEST_ROW = 800;
  const LONGEST_NAME = 1000;
  const MOST_OPTIONS = 40;
  // Groups that say something even without a name.
  const TELLING = new Set(['dialog', 'alertdialog', 'alert']);
  // Groups that never say anything: their tabs or their content do.
  const SILENT = new Set(['tabpanel', 'separator']);
  const ALONE = new Set(['img', 'progressbar', 'meter']);

  // Returns true for a text that contains something like a reference. Characters that are left out later do not count.
  const isRefLike = text => /(^|[^\p{L}\p{N}])(f\d+)?e\d/iu.test(text.replace(/\p{C}/gu, ''));
  // Brackets around something like a reference would look like an element of ours.
  const unbracketed = text => text.replaceAll('[', '(').replaceAll(']', ')');
  const safe = text => isRefLike(text) ? unbracketed(text) : text;
  const quoted = text => JSON.stringify(safe(text));
  const nameIn = name => /["[\]]/.test(name) || isRefLike(name) ? quoted(name) : name;

  // Returns lines of [depth, text, reference if it is a frame]. `frame` is the number of this frame.
  const tree = (filter, root, mostCharacters, frame) => {
    const lines = [];
    const until = performance.now() + 1500;
    const onlyUsable = filter === 'interactive';
    const optionsOf = new Map();
    // The line that is being written: texts of the page, and marks of ours.
    let pieces = [];
    let level = 0;
    let isInRow = false;
    let nCells = 0;
    let nCharacters = 0;
    let isCut = false;

    const addText = text => { if (text && !onlyUsable) pieces.push({ text, isMark: false }); };
    const addMark = text => { pieces.push({ text, isMark: true }); };
    const joined = () => {
      const texts = pieces.filter(piece => !piece.isMark).map(piece => piece.text);
      const shown = isRefLike(texts.join('')) ? unbracketed : text => text;
      let line = '';
      let isAfterMark = false;
      for (const { text, isMark } of pieces) {
        const needsSpace = isMark ? !/(^|[\s(“‘«"'])$/.test(line) : isAfterMark && /^[\p{L}\p{N}]/u.test(text);
        line += (needsSpace ? ' ' : '') + (isMark ? text : shown(text));
        isAfterMark = isMark;
      }
      return line.replace(/\s+/g, ' ').trim();
    };
    const flush = (before = '', frameRef = 0) => {
      if (!pieces.length) return;
      let line = before + joined();
      pieces = [];
      if (line === before || isCut) return;
      const left = mostCharacters - nCharacters - level - 1;
      if (line.length > left || performance.now() > until) {
        isCut = true;
        line = line.slice(0, Math.max(left - 1, 0));
        // An element is left out as a whole.
        const start = line.lastIndexOf('[');
        if (start > line.lastIndexOf(']')) line = line.slice(0, start).trimEnd();
        if (!line) return;
        line += '…';
      }
      nCharacters += line.length + level + 1;
      lines.push([level, line, frameRef]);
    };
    // Ends the line, or only the word in a row of a table.
    const endLine = () => { if (isInRow) addText(' '); else flush(); };

    const refText = element => (frame ? `f${frame}` : '') + `e${refOf(element)}`;
    const optionsText = element => {
      const labels = [...element.options].slice(0, MOST_OPTIONS).map(option => oneLine(option.label, 60));
      const all = labels.map(label => /[|()"[\]]/.test(label) || isRefLike(label) ? quoted(label) : label).join(' | ');
      if (!all) return '';
      const nMore = element.options.length - MOST_OPTIONS;
      // Labels that are left out may differ.
      if (nMore > 0) return ` (${all} and ${nMore} more)`;
      const same = optionsOf.get(all);
      if (same) return ` (options of ${same})`;
      optionsOf.set(all, refText(element));
      return ` (${all})`;
    };
    const stateText = (element, role) => {
      const value = valueOf(element, role);
      return [value && `=${quoted(value)}`, ...stateOf(element)].filter(Boolean).map(state => ' ' + state).join('');
    };
    const bracketed = (element, role, name) => {
      // A link needs no role, unless its name begins like one.
      const isPlain = role === 'link' && name && !USABLE.has(name.split(' ')[0]);
      const words = [isPlain ? '' : role, nameIn(name), refText(element)].filter(Boolean).join(' ');
      const options = element.tagName === 'SELECT' ? optionsText(element) : '';
      return `[${words}${stateText(element, role)}${options}]`;
    };

    const visitAll = (element, isSilent, style) => {
      // The parts of a flexible row stand beside each other.
      const areBeside = !!style?.display.endsWith('flex') && style.flexWrap === 'nowrap' && !style.flexDirection.startsWith('column');
      const isClosed = element.tagName === 'DETAILS' && !element.open;
      const keepsLines = style?.whiteSpace.startsWith('pre');
      for (const child of childrenOf(element)) {
        if (isCut) return;
        if (isClosed && child.tagName !== 'SUMMARY') continue;
        if (child.nodeType === Node.ELEMENT_NODE) visit(child, isSilent, areBeside);
        else if (child.nodeType === Node.TEXT_NODE && !isSilent) {
          const texts = keepsLines ? child.data.split('\n') : [child.data];
          texts.forEach((text, index) => { if (index) endLine(); addText(text); });
        }
      }
    };
    // Writes something in front of the first line of an element. Further lines are below it.
    const visitAfter = (before, element, isSilent, style) => {
      if (isInRow || onlyUsable) { endLine(); visitAll(element, isSilent, style); endLine(); return; }
      flush();
      const start = lines.length;
      visitAll(element, isSilent, style);
      flush();
      if (lines.length === start) return;
      lines[start][1] = before + lines[start][1];
      nCharacters += before.length;
      for (const line of lines.slice(start + 1)) line[0] += 1;
    };
    const visitGroup = (element, role, name, isSilent, style) => {
      if (isInRow || onlyUsable || isSilent) { endLine(); visitAll(element, isSilent, style); endLine(); return; }
      flush();
      addText(`${role} ${name}`.trim() + ':');
      flush();
      level += 1;
      visitAll(element, isSilent, style);
      flush();
      level -= 1;
    };
    const visitRow = (element, isSilent, style) => {
      flush();
      isInRow = true;
      nCells = 0;
      visitAll(element, isSilent, style);
      isInRow = false;
      const states = stateOf(element);
      if (states.length) addMark(`(${states.join(' ')})`);
      flush(onlyUsable ? '' : '| ');
    };
    const visitUsable = (element, role, isSilent, style) => {
      const name = nameOf(element, role, LONGEST_NAME);
      const content = NAMED_BY_CONTENT.has(role) ? oneLine(textOf(element, LONGEST_NAME), LONGEST_NAME) : '';
      const hasInner = !!element.shadowRoot || !!element.querySelector(INNER);
      if (role === 'frame') {
        flush();
        addMark(bracketed(element, role, name));
        flush('', refOf(element));
        return;
      }
      if (hasInner && element.tagName !== 'SELECT' && (!content || name === content)) {
        // Its name is the text of what follows, in which there are more elements.
        const before = bracketed(element, role, content ? oneLine(onlyUsable ? content : '', 80) : name) + ' ';
        if (onlyUsable || isInRow) { addMark(before); visitAll(element, isSilent, style); return; }
        const start = lines.length;
        visitAfter(before, element, isSilent, style);
        if (lines.length === start) addMark(before);
        return;
      }
      addMark(bracketed(element, role, name));
      if (['SELECT', 'CANVAS', 'VIDEO', 'AUDIO'].includes(element.tagName)) return;
      const isTold = role === 'textbox' || content.length < 3 || name.toLowerCase().includes(content.toLowerCase());
      visitAll(element, isSilent || (NAMED_BY_CONTENT.has(role) || role === 'textbox') && isTold, style);
    };
    const visitOther = (element, role, isSilent, style, isBlock) => {
      const level = /^h(\d)$/.exec(role);
      if (level) return visitAfter(`${role} `, element, isSilent, style);
      if (role === 'row' && element.textContent.length < LONGEST_ROW && !isInRow && !element.querySelector(TALL)) {
        return visitRow(element, isSilent, style);
      }
      if (isInRow && (role === 'cell' || role === 'header')) {
        nCells += 1;
        if (nCells > 1 && !onlyUsable) addMark(' | ');
        return visitAll(element, isSilent, style);
      }
      const name = SILENT.has(role) ? '' : nameOf(element, role, 200);
      if (ALONE.has(role)) {
        if (!isSilent && !onlyUsable && (name || role !== 'img')) addText(` (${role} ${name}${stateText(element, role)}) `);
        return undefined;
      }
      if (role === 'listitem') return visitAfter(name ? `- ${nameIn(name)}: ` : '- ', element, isSilent, style);
      if (TELLING.has(role) || name && BLOCKS.test(style.display)) return visitGroup(element, role, name, isSilent, style);
      if (name && !isSilent) addText(` (${role} ${name}) `);
      return visitPlain(element, isSilent, style, isBlock);
    };
    const visitPlain = (element, isSilent, style, isBlock) => {
      if (isBlock) endLine(); else if (style.display !== 'inline') addText(' ');
      visitAll(element, isSilent, style);
      if (isBlock) endLine(); else if (style.display !== 'inline') addText(' ');
    };
    const visit = (element, isSilent, isBeside) => {
      const tag = element.tagName;
      if (SKIPPED.has(tag) || tag === 'OPTION' || element.getAttribute('aria-hidden') === 'true') return;
      if (tag === 'BR') { endLine(); return; }
      const style = getComputedStyle(element);
      if (style.display === 'none') return;
      const isHidden = style.visibility !== 'visible';
      const isBlock = BLOCKS.test(style.display) && !isBeside;
      let role = isHidden ? '' : roleOf(element, style);
      if (tag === 'LEGEND' && !role) { visitPlain(element, true, style, isBlock); return; }
      if (tag === 'LABEL' && element.control) {
        if (element.control.checkVisibility()) { visitPlain(element, true, style, isBlock); return; }
        // Only the label of a field that is drawn by other means can be clicked.
        role = 'clickable';
      }
      if (!role) { visitPlain(element, isSilent || isHidden, style, isBlock); return; }
      if (!USABLE.has(role)) { visitOther(element, role, isSilent, style, isBlock); return; }
      if (isBlock) endLine(); else if (isBeside) addText(' ');
      visitUsable(element, role, isSilent, style);
      if (isBlock) endLine();
    };
    if (root) visit(root, false, false);
    else if (document.body) visitAll(document.body, false, getComputedStyle(document.body));
    flush();
    return { lines, isCut };
  };
  return { tree };
})();
