// Draws the graph whose data the page holds. Members are numbers, as in _layout.py: nodes, then modules, the root last.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { words, sites, nodes, parents, paths, classes, rows, widths, sizes } = data;
  const { NODE_HEIGHT, FOLDED_HEIGHT, PAD, HEAD, GAP_ACROSS, GAP_DOWN, FAR, AROUND } = sizes;
  const count = nodes.length, root = parents.length - 1;
  const NAME = 0, DETAIL = 1, FULL = 2, KIND = 3, SITE = 4, BYTES = 5, NORM = 6, SAVED = 7;
  const element = (id) => document.getElementById(id);
  const canvas = element("canvas"), context = canvas.getContext("2d");

  // -- what there is -----------------------------------------------------------

  const level = new Int32Array(root + 1);
  for (let m = count; m < root; m++) level[m] = paths[m - count].split(".").length;
  for (let i = 0; i < count; i++) level[i] = level[parents[i]] + 1;
  const modules = [...Array(root + 1 - count).keys()].map((i) => i + count).sort((a, b) => level[b] - level[a]);  // inner ones first
  const isModule = (m) => m >= count && m !== root;
  const edgeCount = data.edges.length / 2;
  const inputs = Array.from({ length: count }, () => []), outputs = Array.from({ length: count }, () => []);
  const lines = Array.from({ length: root + 1 - count }, () => new Map());  // between members of a module, from the edges inside
  for (let e = 0; e < edgeCount; e++) {
    let a = data.edges[2 * e], b = data.edges[2 * e + 1];
    outputs[a].push(b);
    inputs[b].push(a);
    while (parents[a] !== parents[b]) if (level[a] >= level[b]) a = parents[a]; else b = parents[b];
    lines[parents[a] - count].set(a * (root + 1) + b, [a, b]);
  }
  const total = { nodes: new Int32Array(root + 1), bytes: new Float64Array(root + 1), squares: new Float64Array(root + 1) };
  for (let i = 0; i < count; i++) {
    const norm = nodes[i][KIND] === 0 && typeof nodes[i][NORM] === "number" ? nodes[i][NORM] : 0;
    for (let m = parents[i]; m >= 0; m = parents[m]) {
      total.nodes[m]++;
      total.bytes[m] += nodes[i][BYTES];
      total.squares[m] += norm * norm;
    }
  }

  // -- places: the arithmetic of _layout.place -----------------------------------

  const folded = new Set();
  const left = new Float64Array(root + 1), top_ = new Float64Array(root + 1), wide = new Float64Array(root + 1), high = new Float64Array(root + 1);
  const rowOf = new Int32Array(root + 1);
  const above = Array.from({ length: root + 1 }, () => []), below = Array.from({ length: root + 1 }, () => []);
  for (const inRows of rows) inRows.forEach((row, r) => row.forEach((m) => { rowOf[m] = r; }));
  for (const inside of lines) for (const [a, b] of inside.values()) if (rowOf[a] < rowOf[b]) { below[a].push(b); above[b].push(a); }

  function apart(members, wanted, weights) {
    const offsets = [];
    let offset = 0;
    members.forEach((m, i) => {
      if (i) offset += (wide[m] + wide[members[i - 1]]) / 2 + GAP_ACROSS;
      offsets.push(offset);
    });
    const blocks = [];
    for (let i = 0; i < members.length; i++) {
      blocks.push([weights[i], weights[i] * (wanted[i] - offsets[i]), 1]);
      while (blocks.length > 1) {
        const [before, last] = blocks.slice(-2);
        if (!(before[1] * last[0] > last[1] * before[0])) break;
        blocks.pop();
        for (let k = 0; k < 3; k++) before[k] += last[k];
      }
    }
    const found = [];
    for (const [weight, sum, many] of blocks) for (let k = 0; k < many; k++) found.push(sum / weight + offsets[found.length]);
    return found;
  }

  function across(module) {
    const inRows = rows[module - count], at = new Map();
    const weight = (m) => (above[m].length ? 8 : 1);
    for (const row of inRows) for (const m of row) at.set(m, 0);
    const upwards = [...inRows].reverse();
    for (const [near, order] of [[below, upwards], [above, inRows], [below, upwards]])
      for (const row of order) {
        const wanted = row.map((m) => {
          let sum = 0, all = 0;
          for (const o of near[m]) all += weight(o);
          for (const o of near[m]) sum += weight(o) * at.get(o);
          return all ? sum / all : at.get(m);
        });
        apart(row, wanted, row.map(weight)).forEach((x, i) => at.set(row[i], x));
      }
    return at;
  }

  let frames = [], boxes = [], arrows = [];  // what is seen: open modules from outside in, nodes and folded modules, edges between those

  function layOut() {
    for (let m = 0; m < root; m++) { wide[m] = widths[m]; high[m] = m < count ? NODE_HEIGHT : FOLDED_HEIGHT; }
    const x = new Float64Array(root + 1), y = new Float64Array(root + 1);
    for (const module of modules) {
      if (folded.has(module)) continue;
      const at = across(module), inRows = rows[module - count];
      let low = Infinity, far = -Infinity, down = module === root ? PAD : PAD + HEAD;
      for (const [m, c] of at) { low = Math.min(low, c - wide[m] / 2); far = Math.max(far, c + wide[m] / 2); }
      const width = Math.max(far - low, module === root ? 0 : widths[module]);
      low -= (width - (far - low)) / 2;
      for (const row of inRows) {
        let tall = 0;
        for (const m of row) tall = Math.max(tall, high[m]);
        for (const m of row) { x[m] = PAD + at.get(m) - wide[m] / 2 - low; y[m] = down + (tall - high[m]) / 2; }
        down += tall + GAP_DOWN;
      }
      wide[module] = width + 2 * PAD;
      high[module] = down - GAP_DOWN + PAD;
    }
    left[root] = top_[root] = 0;
    frames = [];
    boxes = [];
    for (let i = modules.length - 1; i >= 0; i--) {
      const module = modules[i];
      if (module !== root && standIn(module) !== module) continue;
      if (folded.has(module)) { boxes.push(module); continue; }
      if (module !== root) frames.push(module);
      for (const row of rows[module - count]) for (const m of row) {
        left[m] = left[module] + x[m];
        top_[m] = top_[module] + y[m];
        if (m < count) boxes.push(m);
      }
    }
    const seen = new Map();
    for (let e = 0; e < edgeCount; e++) {
      const a = standIn(data.edges[2 * e]), b = standIn(data.edges[2 * e + 1]);
      if (a !== b) seen.set(a * (root + 1) + b, [a, b]);
    }
    arrows = [...seen.values()].map(([a, b]) => route(a, b));
  }

  // -- lines: the arithmetic of _layout.route --------------------------------------

  function between(a, b) {
    const found = [];
    const add = (module, first, last) => { if (last - first <= FAR) for (let r = first; r < last; r++) found.push(...rows[module - count][r]); };
    let innerA = a, innerB = b;
    while (parents[innerA] !== parents[innerB]) if (level[innerA] >= level[innerB]) innerA = parents[innerA]; else innerB = parents[innerB];
    for (; a !== innerA; a = parents[a]) add(parents[a], rowOf[a] + 1, rows[parents[a] - count].length);
    for (; b !== innerB; b = parents[b]) add(parents[b], 0, rowOf[b]);
    add(parents[a], rowOf[a] + 1, rowOf[b]);
    return found;
  }

  // [x0, y0, x1, y1] or, around what is in the way, four points.
  function route(a, b) {
    const x0 = left[a] + wide[a] / 2, y0 = top_[a] + high[a], x1 = left[b] + wide[b] / 2, y1 = top_[b];
    const obstacles = between(a, b);
    const hit = (m) => { const x = x0 + ((x1 - x0) * (top_[m] + high[m] / 2 - y0)) / (y1 - y0); return left[m] < x && x < left[m] + wide[m]; };
    if (y1 <= y0 || !obstacles.some(hit)) return [x0, y0, x1, y1];
    let low = Infinity, far = -Infinity, first = Infinity, last = -Infinity;
    for (const m of obstacles) {
      low = Math.min(low, left[m]);
      far = Math.max(far, left[m] + wide[m]);
      first = Math.min(first, top_[m]);
      last = Math.max(last, top_[m] + high[m]);
    }
    const middle = (x0 + x1) / 2, x = middle - (low - AROUND) <= far + AROUND - middle ? low - AROUND : far + AROUND;
    return [x0, y0, x, first, x, last, x1, y1];
  }

  // The member itself, or the outermost folded module around it.
  function standIn(m) {
    if (!folded.size) return m;
    let found = m;
    for (; m >= 0; m = parents[m]) if (folded.has(m)) found = m;
    return found;
  }

  // -- the view ------------------------------------------------------------------

  const view = { x: 0, y: 0, scale: 1 };
  let chosen = -1, hits = new Set(), colouring = "kind", waiting = false;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const ink = () => getComputedStyle(document.body).color;

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  const FILLS = { light: ["#cfe8d5", "#dbe6f8", "#e8dcf5", "#e3e7ec"], dark: ["#2d5a3c", "#2b4470", "#51386e", "#3a424d"] };
  const heat = (part) => `hsl(${210 - 200 * part} 70% ${dark.matches ? 30 + 15 * part : 88 - 33 * part}%)`;
  const normOf = (m) => (m < count ? nodes[m][NORM] : total.squares[m] ? Math.sqrt(total.squares[m]) : null);
  const bytesOf = (m) => (m < count ? nodes[m][BYTES] : total.bytes[m]);

  function scaleOf(values) {
    const logs = values.filter((v) => typeof v === "number" && v > 0 && isFinite(v)).map(Math.log);
    let low = Infinity, far = -Infinity;
    for (const v of logs) { low = Math.min(low, v); far = Math.max(far, v); }
    return { low, far, part: (v) => (far > low ? (Math.log(v) - low) / (far - low) : 1) };
  }

  function fills() {
    const plain = FILLS[dark.matches ? "dark" : "light"];
    if (colouring === "kind") return (m) => plain[m < count ? nodes[m][KIND] : 3];
    const value = colouring === "bytes" ? bytesOf : normOf, scale = scaleOf(boxes.map(value));
    return (m) => {
      const v = value(m);
      if (typeof v === "string") return "#d4593b";  // no number: inf, nan
      return v ? heat(Math.round(10 * scale.part(v)) / 10) : plain[3];
    };
  }

  function draw() {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const s = view.scale;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.setTransform(ratio * s, 0, 0, ratio * s, ratio * view.x, ratio * view.y);
    const x0 = -view.x / s, y0 = -view.y / s, x1 = x0 + width / s, y1 = y0 + height / s;
    const inside = (m) => left[m] < x1 && top_[m] < y1 && left[m] + wide[m] > x0 && top_[m] + high[m] > y0;
    const line = dark.matches ? "#5b6675" : "#a3adba", colour = ink();

    for (const m of frames) {
      if (!inside(m)) continue;
      context.fillStyle = dark.matches ? "#ffffff0a" : "#1d25300a";
      context.strokeStyle = line;
      context.lineWidth = 1 / s;
      context.beginPath();
      context.roundRect(left[m], top_[m], wide[m], high[m], 8);
      context.fill();
      context.stroke();
      if (s * wide[m] > 60) {
        const size = Math.min(Math.max(12, 11 / s), HEAD * 1.5);
        context.fillStyle = colour;
        context.globalAlpha = 0.75;
        context.font = `${size}px system-ui, sans-serif`;
        context.textAlign = "left";
        context.fillText("\u2212 " + titleOf(m), left[m] + 8, top_[m] + Math.max(17, size), wide[m] - 16);
        context.globalAlpha = 1;
      }
    }

    context.strokeStyle = line;
    context.lineWidth = Math.max(1, 0.6 / s);
    context.beginPath();
    let strokes = 0;
    for (const points of arrows) {
      const [ax, ay] = points, [bx, by] = points.slice(-2), sideX = points[2];
      if (Math.max(ax, bx, sideX) < x0 || Math.min(ax, bx, sideX) > x1 || Math.max(ay, by) < y0 || Math.min(ay, by) > y1) continue;
      if (s * (Math.abs(ax - bx) + Math.abs(ay - by)) < 2) continue;  // less than a pixel or two: the boxes say it
      context.moveTo(ax, ay);
      for (let k = 2; k < points.length; k += 2) {
        const [fromX, fromY, toX, toY] = points.slice(k - 2, k + 2), bend = Math.min(60, Math.max(12, Math.abs(toY - fromY) / 2));
        if (s < 0.2) context.lineTo(toX, toY); else context.bezierCurveTo(fromX, fromY + bend, toX, toY - bend, toX, toY);
      }
      if (s >= 0.2) {
        context.moveTo(bx - 3, by - 5);
        context.lineTo(bx, by);
        context.lineTo(bx + 3, by - 5);
      }
      if (++strokes % 2000 === 0) { context.stroke(); context.beginPath(); }  // one endless path is slow
    }
    context.stroke();

    const fill = fills(), byColour = new Map();
    for (const m of boxes) {
      if (!inside(m)) continue;
      const key = fill(m);
      if (!byColour.has(key)) byColour.set(key, []);
      byColour.get(key).push(m);
    }
    const least = 1.5 / s;  // never less than what can be seen
    for (const [key, members] of byColour) {
      context.fillStyle = s < 0.2 && colouring === "kind" ? shade(key) : key;
      for (const m of members) {
        if (s < 0.2) context.fillRect(left[m], top_[m], Math.max(wide[m], least), Math.max(high[m], least));
        else {
          context.beginPath();
          context.roundRect(left[m], top_[m], wide[m], high[m], 6);
          context.fill();
          context.strokeStyle = line;
          context.lineWidth = 1;
          context.stroke();
        }
      }
    }
    if (s >= 0.35) {
      context.textAlign = "center";
      for (const members of byColour.values()) for (const m of members) label(m, colour, s);
    }
    for (const m of hits) outline(m, "#c99a1d", 2);
    if (chosen >= 0) outline(chosen, "#d4593b", 3);
  }

  const shade = (key) => ({ "#cfe8d5": "#3f9b5c", "#dbe6f8": "#3b6fd4", "#e8dcf5": "#8e5bc4", "#e3e7ec": "#8a94a3" })[key] || key;
  const titleOf = (m) => paths[m - count] + (classes[m - count] ? ` (${classes[m - count]})` : "");

  function label(m, colour, s) {
    const middle = left[m] + wide[m] / 2;
    const [above, below] = m < count
      ? [words[nodes[m][NAME]], words[nodes[m][DETAIL]]]
      : ["+ " + titleOf(m), `${total.nodes[m].toLocaleString("en")} nodes` + (total.bytes[m] ? `, saves ${readable(total.bytes[m])}` : "")];
    const centre = top_[m] + high[m] / 2;
    context.fillStyle = colour;
    context.font = "12px system-ui, sans-serif";
    context.fillText(above, middle, centre + (below ? -2 : 4), wide[m] - 8);
    if (below && s >= 0.5) {
      context.globalAlpha = 0.65;
      context.font = "10px system-ui, sans-serif";
      context.fillText(below, middle, centre + 12, wide[m] - 8);
      context.globalAlpha = 1;
    }
  }

  function outline(member, colour, width) {
    const m = standIn(member), grow = Math.max(2, 2 / view.scale);
    context.strokeStyle = colour;
    context.lineWidth = Math.max(width, width / view.scale);
    context.strokeRect(left[m] - grow, top_[m] - grow, wide[m] + 2 * grow, high[m] + 2 * grow);
  }

  function readable(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (bytes >= 1024 && unit < 4) { bytes /= 1024; unit++; }
    return unit ? `${bytes.toFixed(2)} ${units[unit]}` : `${bytes} B`;
  }

  // All of it, or the end of it (the loss, at the bottom) where all would be too small to see.
  function fit() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const whole = Math.min(width / wide[root], height / high[root], 1.2), s = Math.max(whole, 0.02);
    view.scale = s;
    view.x = (width - s * wide[root]) / 2;
    view.y = s * high[root] > height ? height - s * high[root] : (height - s * high[root]) / 2;
    redraw();
  }

  function start() {
    const { clientWidth: width, clientHeight: height } = canvas;
    fit();
    if (view.scale >= 0.35) return;
    const m = standIn(count - 1);  // the last node is what backward starts from
    view.scale = 0.8;
    view.x = width / 2 - 0.8 * (left[m] + wide[m] / 2);
    view.y = height - 60 - 0.8 * (top_[m] + high[m]);
    redraw();
  }

  function centre(member) {
    const m = standIn(member), s = (view.scale = Math.max(view.scale, 0.8));
    view.x = canvas.clientWidth / 2 - s * (left[m] + wide[m] / 2);
    view.y = canvas.clientHeight / 2 - s * (top_[m] + high[m] / 2);
    redraw();
  }

  function zoom(factor, x, y) {
    const s = Math.min(4, Math.max(view.scale * factor, 0.25 * Math.min(canvas.clientWidth / wide[root], canvas.clientHeight / high[root], 1)));
    view.x = x - (x - view.x) * (s / view.scale);
    view.y = y - (y - view.y) * (s / view.scale);
    view.scale = s;
    redraw();
  }

  // -- folding -------------------------------------------------------------------

  function toggle(module) {
    const x = view.x + view.scale * left[module], y = view.y + view.scale * top_[module];
    if (!folded.delete(module)) folded.add(module);
    layOut();
    view.x = x - view.scale * left[module];  // what was clicked stays where it is
    view.y = y - view.scale * top_[module];
    redraw();
  }

  function reveal(member) {
    let opened = false;
    for (let m = parents[member]; m >= 0; m = parents[m]) opened = folded.delete(m) || opened;
    if (opened) layOut();
  }

  function foldAll(yes) {
    folded.clear();
    if (yes) for (let m = count; m < root; m++) folded.add(m);
    layOut();
    fit();
  }

  // -- what is known of a node -----------------------------------------------------

  function make(tag, text, parent, action) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (action) made.addEventListener("click", action);
    if (parent) parent.append(made);
    return made;
  }

  function section(side, title) {
    const made = make("section", undefined, side);
    make("h3", title, made);
    return made;
  }

  const normWords = (v) => (v === null ? "none yet" : typeof v === "number" ? v.toPrecision(5) : v);

  function choose(member, jump) {
    chosen = member;
    const side = element("side");
    side.hidden = member < 0;
    side.replaceChildren();
    if (member < 0) return redraw();
    if (jump) { reveal(member); }
    if (member < count) describe(side, member); else describeModule(side, member);
    if (jump) requestAnimationFrame(() => centre(member));
    redraw();
  }

  function describe(side, i) {
    const node = nodes[i], path = parents[i] === root ? "" : paths[parents[i] - count];
    make("h2", node[KIND] === 0 ? `${words[node[NAME]]} ${words[node[DETAIL]]}` : words[node[FULL]], side);
    const facts = make("table", undefined, side);
    const fact = (name, value) => { const row = make("tr", undefined, facts); make("td", name, row); make("td", value, row); };
    fact("node", words[node[FULL]]);
    if (path) fact("module", path + (classes[parents[i] - count] ? ` (${classes[parents[i] - count]})` : ""));
    fact("gradient norm", normWords(node[NORM]));
    if (node[KIND] !== 0) fact("saves", node[BYTES] ? readable(node[BYTES]) : "nothing of its own");
    if (node[SITE] >= 0) {
      const [file, line, text] = sites[node[SITE]], made = section(side, "made at");
      make("code", `${file}:${line}`, made);
      if (text) { make("br", undefined, made); make("code", text, made); }
    }
    if (node[SAVED].length) {
      const table = make("table", undefined, section(side, "saved for backward"));
      for (const [name, about, bytes, parameter] of node[SAVED]) {
        const row = make("tr", undefined, table);
        make("td", words[name], row);
        make("td", words[about], row);
        make("td", parameter ? "of a leaf" : bytes ? readable(bytes) : "", row);
      }
    }
    for (const [title, others] of [["uses", inputs[i]], ["used by", outputs[i]]]) {
      if (!others.length) continue;
      const made = section(side, title);
      for (const other of others.slice(0, 50)) { make("a", nameOf(other), made, () => choose(other, true)); make("br", undefined, made); }
      if (others.length > 50) make("span", `and ${others.length - 50} more`, made);
    }
  }

  function describeModule(side, m) {
    make("h2", titleOf(m), side);
    const facts = make("table", undefined, side);
    const fact = (name, value) => { const row = make("tr", undefined, facts); make("td", name, row); make("td", value, row); };
    fact("nodes", total.nodes[m].toLocaleString("en"));
    fact("saves", total.bytes[m] ? readable(total.bytes[m]) : "nothing");
    fact("gradient norm", total.squares[m] ? Math.sqrt(total.squares[m]).toPrecision(5) : "none yet");
    make("a", folded.has(m) ? "unfold" : "fold", side, () => { toggle(m); choose(m); });
  }

  const nameOf = (i) => (nodes[i][KIND] === 0 ? words[nodes[i][NAME]] : words[nodes[i][FULL]]);

  // -- search ----------------------------------------------------------------------

  let texts = null, results = [], cursor = 0;

  function textOf(i) {
    const node = nodes[i], site = node[SITE] >= 0 ? sites[node[SITE]] : ["", "", ""];
    const path = parents[i] === root ? "" : paths[parents[i] - count] + " " + classes[parents[i] - count];
    return [`${words[node[FULL]]} ${words[node[NAME]]} ${path}`.toLowerCase(), ` ${site[0]}:${site[1]} ${site[2]}`.toLowerCase()];
  }

  function search(asked) {
    const parts = asked.toLowerCase().split(/\s+/).filter(Boolean);
    texts = texts || nodes.map((_, i) => textOf(i));
    results = [];
    if (parts.length) {
      for (let m = count; m < root; m++) if (parts.every((p) => titleOf(m).toLowerCase().includes(p))) results.push(m);
      const byLine = [];  // after those that are called so
      for (let i = 0; i < count; i++) {
        const [name, line] = texts[i];
        if (parts.every((p) => name.includes(p))) results.push(i);
        else if (parts.every((p) => name.includes(p) || line.includes(p))) byLine.push(i);
      }
      results = results.concat(byLine);
    }
    hits = new Set(results.length > 5000 ? [] : results.filter((m) => m < count));
    cursor = 0;
    showResults(parts.length > 0);
    redraw();
    return results;
  }

  function showResults(asked) {
    const list = element("found");
    list.hidden = !asked;
    list.replaceChildren();
    if (!asked) return;
    make("div", results.length ? `${results.length.toLocaleString("en")} found` : "nothing found", list).style.opacity = 0.65;
    results.slice(0, 200).forEach((m, i) => {
      const row = make("div", undefined, list, () => { cursor = i; take(); });
      if (i === cursor) row.className = "chosen";
      row.append(m < count ? nameOf(m) + " " : titleOf(m) + " ");
      const site = m < count && nodes[m][SITE] >= 0 ? sites[nodes[m][SITE]] : null;
      const path = m < count && parents[m] !== root ? paths[parents[m] - count] : "";
      make("small", [path, site ? `${site[0].split("/").pop()}:${site[1]}` : "", m >= count ? "module" : ""].filter(Boolean).join("  "), row);
    });
  }

  function take() {
    if (!results.length) return;
    choose(results[cursor], true);
    element("found").hidden = true;
  }

  element("search").addEventListener("input", (event) => search(event.target.value));
  element("search").addEventListener("focus", (event) => { if (event.target.value) search(event.target.value); });
  element("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { if (element("found").hidden && results.length) cursor = (cursor + 1) % results.length; take(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      cursor = Math.min(Math.max(cursor + (event.key === "ArrowDown" ? 1 : -1), 0), Math.min(results.length, 200) - 1);
      showResults(true);
      element("found").children[cursor + 1]?.scrollIntoView({ block: "nearest" });
      event.preventDefault();
    } else if (event.key === "Escape") { element("search").value = ""; search(""); }
  });

  // -- mouse and keys ----------------------------------------------------------------

  function under(event) {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - view.x) / view.scale, y = (event.clientY - box.top - view.y) / view.scale;
    const hit = (m) => x >= left[m] && y >= top_[m] && x <= left[m] + wide[m] && y <= top_[m] + high[m];
    for (const m of boxes) if (hit(m)) return m;
    for (let i = frames.length - 1; i >= 0; i--) if (hit(frames[i])) return frames[i];  // inner ones come last
    return -1;
  }

  let grip = null;
  canvas.addEventListener("pointerdown", (event) => {
    grip = { x: event.clientX - view.x, y: event.clientY - view.y, atX: event.clientX, atY: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
    element("found").hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grip) { const m = under(event); canvas.title = m < 0 ? "" : m < count ? nameOf(m) : titleOf(m); return; }
    if (Math.hypot(event.clientX - grip.atX, event.clientY - grip.atY) > 3) grip.moved = true;
    if (!grip.moved) return;
    view.x = event.clientX - grip.x;
    view.y = event.clientY - grip.y;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (grip && !grip.moved) choose(under(event));
    grip = null;
  });
  canvas.addEventListener("dblclick", (event) => { const m = under(event); if (isModule(m)) { toggle(m); choose(m); } });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step) { view.x += step[0]; view.y += step[1]; redraw(); }
    else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (event.key === "0") fit();
    else if (event.key === "/") element("search").focus();
    else return;
    event.preventDefault();
  });

  element("fold").addEventListener("click", () => foldAll(true));
  element("unfold").addEventListener("click", () => foldAll(false));
  element("fold").hidden = element("unfold").hidden = root === count;
  element("fit").addEventListener("click", fit);
  element("colour").addEventListener("change", (event) => { colouring = event.target.value; legend(); redraw(); });
  new ResizeObserver(redraw).observe(canvas);
  dark.addEventListener("change", () => { legend(); redraw(); });

  function legend() {
    const box = element("legend");
    box.replaceChildren();
    const entry = (colour, text) => { make("i", undefined, box).style.background = colour; make("span", text, box); box.append(" "); };
    if (colouring === "kind") {
      const plain = FILLS[dark.matches ? "dark" : "light"];
      ["leaf", "op", "custom Function", "folded module"].forEach((text, i) => entry(plain[i], text));
    } else {
      const scale = scaleOf(boxes.map(colouring === "bytes" ? bytesOf : normOf));
      if (!isFinite(scale.low)) { box.append(colouring === "bytes" ? "nothing is saved" : "no gradients yet: make the page after backward()"); return; }
      const text = (log) => (colouring === "bytes" ? readable(Math.round(Math.exp(log))) : Math.exp(log).toPrecision(3));
      entry(heat(0), text(scale.low));
      entry(heat(1), text(scale.far));
    }
  }

  if (data.folded) for (let m = count; m < root; m++) folded.add(m);
  layOut();
  legend();
  start();
  // For programs that drive the page.
  window.viewer = {
    view, nodes: count, boxes: () => boxes.slice(), frames: () => frames.slice(), chosen: () => chosen, search, choose, toggle, foldAll,
    place: (m) => [left[m], top_[m], wide[m], high[m]], screen: (m) => [view.x + view.scale * (left[m] + wide[m] / 2), view.y + view.scale * (top_[m] + high[m] / 2)],
    ready: true,
  };
})();
