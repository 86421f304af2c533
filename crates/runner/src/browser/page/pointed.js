// The element that a click or a key is for, and the facts by which its consequences are judged.
globalThis.deskhandPointed ??= (() => {
  const { find, refOf, oneLine, parentOf, roleOf, nameOf, textOf } = deskhandRoles;
  const ACTING = new Set(['button', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch', 'tab',
    'checkbox', 'radio', 'clickable']);
  const ENTERED = new Set(['textbox', 'searchbox', 'spinbutton', 'combobox', 'listbox', 'slider', 'color', 'file']);
  const FRAMES = new Set(['IFRAME', 'FRAME']);
  const CARD_NAME = /card.?(num|no)|cc.?(num|csc)|\bcvc|\bcvv|\bpan\b/i;
  const MOST_LEVELS = 40;

  const topAt = (x, y) => {
    let top = document.elementFromPoint(x, y);
    while (top?.shadowRoot) {
      const inner = top.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === top) break;
      top = inner;
    }
    return top;
  };
  const rolled = element => roleOf(element, getComputedStyle(element));
  // The elements around one, itself first, out of shadow trees too.
  function* around(element) {
    let one = element;
    for (let level = 0; one && level < MOST_LEVELS; level += 1) {
      if (one instanceof Element) yield one;
      one = parentOf(one);
    }
  }
  // The element that a click on this one acts on.
  const actingOn = element => {
    for (const one of around(element)) {
      if (one.tagName === 'LABEL' && one.control) return one.control;
      const role = rolled(one);
      if (ACTING.has(role)) return one;
      if (ENTERED.has(role)) return null;
    }
    return null;
  };
  const isSubmit = element => !!element.form && (element.tagName === 'BUTTON' && element.type === 'submit'
    || element.tagName === 'INPUT' && (element.type === 'submit' || element.type === 'image'));
  const isCard = field => /\bcc-(number|csc|exp)/.test(field.autocomplete ?? '')
    || CARD_NAME.test(`${field.name ?? ''} ${field.id ?? ''}`);
  const facts = element => {
    if (!element) return null;
    const all = [...around(element)];
    const dialog = all.find(one => one.tagName === 'DIALOG' || /^(alert)?dialog$/.test(one.getAttribute('role') ?? ''));
    const form = element.form ?? all.find(one => one.tagName === 'FORM');
    const fields = form ? [...form.elements].slice(0, 200) : [...(dialog?.querySelectorAll('input') ?? [])].slice(0, 200);
    const role = rolled(element);
    return {
      origin: self.origin,
      title: oneLine(document.title),
      role,
      name: nameOf(element, role),
      is_submit: isSubmit(element),
      has_password: fields.some(field => field.type === 'password'),
      has_card: fields.some(isCard),
      is_checked: element.checked === true || element.getAttribute('aria-checked') === 'true',
      surroundings: dialog ? oneLine(textOf(dialog, 400), 400) : '',
    };
  };
  const answer = element => ({ element: facts(element) });

  const at = (x, y) => {
    const top = topAt(x, y);
    if (!top) return answer(null);
    if (!FRAMES.has(top.tagName)) return answer(actingOn(top));
    const box = top.getBoundingClientRect();
    return { frame: refOf(top), x: x - box.left - top.clientLeft, y: y - box.top - top.clientTop };
  };
  // A point of the screen, if this page is visible in the window at this place.
  const onScreen = (x, y, window) => {
    const place = [screenX, screenY, screenX + outerWidth, screenY + outerHeight];
    if (document.visibilityState !== 'visible' || place.some((edge, index) => edge !== window[index])) return answer(null);
    // A page is at the bottom of its window, between the window's borders.
    const ratio = devicePixelRatio;
    const border = Math.max(outerWidth - innerWidth * ratio, 0) / 2;
    const left = screenX + border;
    const top = screenY + outerHeight - innerHeight * ratio - border;
    const [across, down] = [(x - left) / ratio, (y - top) / ratio];
    if (across < 0 || down < 0 || across >= innerWidth || down >= innerHeight) return answer(null);
    return at(across, down);
  };
  const focused = key => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element || element === document.body) return answer(null);
    if (FRAMES.has(element.tagName)) return { frame: refOf(element) };
    const role = rolled(element);
    if (key === 'space') return answer(ACTING.has(role) && role !== 'link' ? element : null);
    return entered(element);
  };
  // The element that Enter is for.
  const entered = element => {
    const role = element ? rolled(element) : '';
    if (!element || element.tagName === 'TEXTAREA' || element.isContentEditable) return answer(null);
    // In a field, Enter sends the form as its first button would.
    if (element.tagName === 'INPUT' && !ACTING.has(role) || role === 'checkbox' || role === 'radio') {
      return answer(element.form ? [...element.form.elements].find(isSubmit) ?? null : null);
    }
    return answer(ACTING.has(role) ? element : null);
  };
  const element = number => answer(actingOn(find(number)));
  const field = number => entered(find(number));

  return { topAt, at, onScreen, focused, element, field };
})();
