'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const page = location.pathname + location.search;
  const wanted = Number((/refresh=(\d+)/.exec(location.hash) || [])[1]) || 0;

  // The tables: a button in each heading sorts; a third time gives the
  // server's own order again.
  const orders = new Map(); // of the bodies, by id: {column, down}
  const natural = new WeakMap(); // of the rows: their place in the server's order
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell ? cell.dataset.v || cell.textContent.trim() : '';
  };
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return a !== '' && b !== '' && !isNaN(x) && !isNaN(y) ? x - y : a.localeCompare(b, 'en', {numeric: true});
  };
  const sort = body => {
    const order = orders.get(body.id);
    const rows = [...body.rows].filter(r => r.className !== 'none');
    rows.forEach((r, i) => { if (!natural.has(r)) natural.set(r, i); });
    rows.sort((a, b) => {
      if (order) {
        const x = value(a, order.column), y = value(b, order.column);
        if ((x === '-') !== (y === '-')) return x === '-' ? 1 : -1; // what there is not comes last
        const c = compare(x, y);
        if (c) return order.down ? -c : c;
      }
      return natural.get(a) - natural.get(b);
    });
    body.append(...rows);
  };
  const press = (body, head, column) => {
    const first = head.classList.contains('n'); // numbers: the greatest first
    const old = orders.get(body.id);
    if (!old || old.column !== column) orders.set(body.id, {column, down: first});
    else if (old.down === first) orders.set(body.id, {column, down: !first});
    else orders.delete(body.id);
    const order = orders.get(body.id);
    for (const h of head.parentNode.cells) h.removeAttribute('aria-sort');
    if (order) head.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
    sort(body);
  };
  const prepare = () => {
    for (const table of document.querySelectorAll('table'))
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener('click', () => press(table.tBodies[0], head, column));
      });
  };

  // The page is asked for again, and what lives in it replaced.
  const live = root => new Map([...root.querySelectorAll('[data-live]')].map(e => [e.id, e]));
  const replace = fresh => {
    const have = live(document), got = live(fresh);
    if (have.size !== got.size || [...got.keys()].some(id => !have.has(id))) {
      location.reload(); // the server shows other things now
      return;
    }
    for (const [id, e] of got) {
      const old = have.get(id);
      const label = e.getAttribute('aria-label');
      if (label !== null) old.setAttribute('aria-label', label);
      old.replaceChildren(...e.childNodes);
      if (orders.has(id)) sort(old);
    }
  };
  let paused = false, failing = false, asking = false;
  const say = text => { if (byId('state').textContent !== text) byId('state').textContent = text; };
  const refresh = async () => {
    if (asking) return;
    asking = true;
    try {
      const answer = await fetch(page, {cache: 'no-store', credentials: 'same-origin', signal: AbortSignal.timeout(15000)});
      if (!answer.ok) throw new Error('answered ' + answer.status);
      const text = await answer.text();
      if (paused) return;
      replace(new DOMParser().parseFromString(text, 'text/html'));
      byId('when').textContent = 'as of ' + new Date().toLocaleTimeString();
      failing = false;
      say('');
    } catch (e) {
      if (!failing) say('Not refreshed since ' + new Date().toLocaleTimeString() + ': ' + e.message);
      failing = true;
    } finally {
      asking = false;
    }
  };
  const selecting = () => {
    const s = getSelection();
    return s && !s.isCollapsed;
  };
  const start = every => {
    byId('controls').hidden = false;
    byId('when').textContent = 'as of ' + new Date().toLocaleTimeString();
    byId('pause').addEventListener('click', () => {
      paused = !paused;
      byId('pause').textContent = paused ? 'Resume' : 'Pause';
      say(paused ? 'Paused' : '');
      if (!paused) refresh();
    });
    setInterval(() => {
      if (!paused && !document.hidden && !selecting()) refresh();
    }, every * 1000);
  };

  const header = Number(document.body.dataset.refresh);
  prepare();
  if (!header) start(wanted || 5);
  else if (!wanted) { // the response's own Refresh would load the page anew: ask for it without
    const rest = location.search.slice(1).split('&').filter(p => p && !/^refresh(=\d*)?$/.test(p));
    location.replace(location.pathname + (rest.length ? '?' + rest.join('&') : '') + '#refresh=' + header);
  }
})();
