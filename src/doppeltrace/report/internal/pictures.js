"use strict";
// Pictures in SVG: maps, bars and lines. They know nothing about the page around them.

const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes, parent, text) {
  const made = document.createElementNS(SVG, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function picture(holder, width, height, words) {
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  holder.replaceChildren(svg);
  return svg;
}

function percent(x) {
  if (x === null || x === undefined) return "n/a";
  const size = Math.abs(100 * x), digits = size >= 9.95 || x === 0 ? 0 : size >= 0.995 ? 1 : size >= 0.0995 ? 2 : 3;
  return `${(100 * x).toFixed(digits)}\u00a0%`;
}

// A difference of shares, in percentage points.
function points(x) {
  const text = Math.abs(100 * x).toFixed(2);
  return Number(text) === 0 ? text : `${x < 0 ? "−" : "+"}${text}`;
}

function clockTime(hours) {
  const minutes = Math.round(60 * hours);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

function niceStep(rough) {
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= 0.999 * rough);
}

function short(x, digits = 3) {
  return String(Number(x.toPrecision(digits)));
}

// A map of places at their positions: north up, degrees of longitude as wide as they are there.
class PlaceMap {
  constructor(holder, places) {
    const WIDTH = 340, PAD = 16;
    const south = Math.min(...places.lat), north = Math.max(...places.lat);
    const west = Math.min(...places.lng), east = Math.max(...places.lng);
    const narrowing = Math.cos(((south + north) / 2) * Math.PI / 180);
    const across = Math.max((east - west) * narrowing, 0.001), up = Math.max(north - south, 0.001);
    const room = WIDTH - 2 * PAD;
    const scale = Math.min(room / across, (1.25 * room) / up);
    const height = Math.max(120, up * scale + 2 * PAD);
    const left = (WIDTH - across * scale) / 2, top = (height - up * scale) / 2;
    this.x = places.lng.map((lng) => left + (lng - west) * narrowing * scale);
    this.y = places.lat.map((lat) => top + (north - lat) * scale);
    this.svg = picture(holder, WIDTH, height.toFixed(1), "");
    const kmPerUnit = 111.195 / scale, km = niceStep(0.12 * WIDTH * kmPerUnit);
    const bar = document.createElement("div");
    bar.className = "scale-bar";
    bar.style.width = `${(100 * km / kmPerUnit / WIDTH).toFixed(2)}%`;
    const text = document.createElement("p");
    text.className = "scale-text";
    text.textContent = `${short(km)} km · north is up`;
    holder.append(bar, text);
    this.largest = Math.max(6, Math.min(13, 0.75 * WIDTH / Math.sqrt(places.lat.length)));
  }

  addDots(n = this.x.length) {
    this.dots = this.x.slice(0, n).map((x, i) =>
      element("circle", { cx: x.toFixed(1), cy: this.y[i].toFixed(1) }, this.svg));
    return this;
  }

  setDot(i, share, scale, name) {
    const root = Math.min(1, Math.sqrt(share / scale));
    this.dots[i].setAttribute("class", root > 0 ? `dot ${name(root)}` : "zero");
    this.dots[i].setAttribute("r", root > 0 ? (1.4 + (this.largest - 1.4) * root).toFixed(2) : "0.9");
  }

  showShares(shares, scale, words) {
    shares.forEach((share, i) => this.setDot(i, share, scale, shade));
    this.svg.setAttribute("aria-label", words);
  }

  showDifferences(differences, scale, words) {
    differences.forEach((d, i) => {
      const side = d > 0 ? "more" : "less";
      this.setDot(i, Math.abs(d), scale, (root) => (root > 0.33 ? `${side}-strong` : side));
    });
    this.svg.setAttribute("aria-label", words);
  }

  showFlows(flows, widest, kind, words) {
    const ends = new Set(flows.flatMap((f) => [f.origin, f.destination]));
    this.x.forEach((x, i) => element("circle", {
      cx: x.toFixed(1), cy: this.y[i].toFixed(1), r: ends.has(i) ? 1.8 : 0.9, class: "zero",
    }, this.svg));
    for (const f of flows) {
      const [x0, y0, x1, y1] = [this.x[f.origin], this.y[f.origin], this.x[f.destination], this.y[f.destination]];
      const bendX = (x0 + x1) / 2 - 0.22 * (y1 - y0), bendY = (y0 + y1) / 2 + 0.22 * (x1 - x0);
      element("path", {
        class: `flow ${kind}`,
        d: `M${x0.toFixed(1)} ${y0.toFixed(1)}Q${bendX.toFixed(1)} ${bendY.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`,
        "stroke-width": (0.6 + 3.4 * Math.sqrt(f.share / widest)).toFixed(2),
      }, this.svg);
    }
    this.svg.setAttribute("aria-label", words);
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect(), unit = 340 / box.width;
    const px = (event.clientX - box.left) * unit, py = (event.clientY - box.top) * unit;
    let best = -1, least = 20 ** 2;
    this.x.slice(0, this.dots.length).forEach((x, i) => {
      const distance = (x - px) ** 2 + (this.y[i] - py) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  }
}

function shade(root) {
  return `q${Math.min(8, Math.floor(9 * root))}`;
}

// The scale of shares: size and colour say the same, so neither is needed to read the other.
function shareLegend(holder, words, scale, most = scale, largest = 9) {
  const swatches = document.createElement("span");
  swatches.className = "swatches";
  for (let q = 0; q < 9; q++) {
    const dot = document.createElement("span");
    const size = 2 * (1.4 + (largest - 1.4) * (q + 1) / 9);
    dot.style.cssText = `width:${size}px;height:${size}px;background:var(--q${q})`;
    swatches.append(dot);
  }
  holder.replaceChildren(`${words}: 0`, swatches, most > scale ? `${percent(scale)} or more` : percent(scale));
}

function frame(holder, words, { height = 190, left = 44, bottom = 34, top = 12, right = 12, widest = 736 } = {}) {
  const width = Math.max(260, Math.min(widest, holder.clientWidth || 640));
  const svg = picture(holder, width, height, words);
  return { svg, width, height, left, top, right: width - right, bottom: height - bottom };
}

function yAxis(box, most, format) {
  const step = niceStep(most / 4);
  for (let v = 0; v <= most * 1.001; v += step) {
    const y = box.bottom - (v / most) * (box.bottom - box.top);
    element("line", { x1: box.left, x2: box.right, y1: y, y2: y, class: "axis" }, box.svg);
    element("text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, box.svg, format(v));
  }
}

function xTicks(box, labels, at, align = "middle") {
  const each = Math.max(...labels.map((label) => label.length)) * 7 + 10;
  const filled = labels.filter((label) => label).length; // some may be left empty on purpose
  const every = filled < labels.length ? 1 : Math.max(1, Math.ceil(labels.length * each / (box.right - box.left)));
  labels.forEach((label, i) => {
    if (!label || i % every) return;
    element("text", { x: at(i), y: box.bottom + 17, "text-anchor": align }, box.svg, label);
  });
}

// Real as bars, synthetic as points on a line: told apart by shape, not by colour alone.
function histogram(holder, { labels, real, synthetic, unit, stems }, words, options) {
  const box = frame(holder, words, options);
  const most = Math.max(...real, ...synthetic, 1e-9) * 1.05;
  const n = labels.length, band = (box.right - box.left) / n;
  const y = (share) => box.bottom - (share / most) * (box.bottom - box.top);
  yAxis(box, most, (v) => percent(v));
  real.forEach((share, i) => element("rect", {
    x: box.left + i * band + 1, width: Math.max(1, band - 2), y: y(share), height: box.bottom - y(share), class: "bar",
  }, box.svg));
  const centre = (i) => box.left + (i + 0.5) * band;
  if (stems) {
    synthetic.forEach((s, i) => element("line", { class: "stem", x1: centre(i), x2: centre(i), y1: box.bottom, y2: y(s) }, box.svg));
  } else if (synthetic.length) {
    element("path", { class: "line synthetic", d: "M" + synthetic.map((s, i) => `${centre(i).toFixed(1)} ${y(s).toFixed(1)}`).join("L") }, box.svg);
  }
  synthetic.forEach((s, i) => element("circle", { class: "point", cx: centre(i), cy: y(s), r: stems && s === 0 ? 1.5 : 3 }, box.svg));
  xTicks(box, labels, (i) => box.left + i * band, "start");
  if (unit) element("text", { x: box.right, y: box.height - 2, "text-anchor": "end" }, box.svg, unit);
}

function lines(holder, { xs, series, labels, at, most, format }, words, options) {
  const box = frame(holder, words, options);
  const x = (i) => box.left + at(xs[i]) * (box.right - box.left);
  const y = (v) => box.bottom - (v / most) * (box.bottom - box.top);
  yAxis(box, most, format);
  for (const one of series) {
    const path = one.values.map((v, i) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("L");
    element("path", { class: `line ${one.name}`, d: `M${path}` }, box.svg);
  }
  if (labels) xTicks(box, labels, x, "middle");
  return { box, x, y };
}

// Two shares per row, joined: hollow where from, filled where to, so that colour is not needed.
function pairs(holder, rows, words) {
  const ROW = 46;
  const box = frame(holder, words, { height: rows.length * ROW + 30, left: 8, bottom: 26, top: 4, right: 24, widest: 480 });
  const x = (share) => box.left + share * (box.right - box.left);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    element("line", { x1: x(share), x2: x(share), y1: box.top, y2: box.bottom, class: "axis" }, box.svg);
    element("text", { x: x(share), y: box.bottom + 17, "text-anchor": share ? "middle" : "start" }, box.svg, percent(share));
  }
  rows.forEach((row, i) => {
    const y = box.top + i * ROW + 30;
    element("text", { class: "name", x: box.left + 4, y: y - 13 }, box.svg, row.label);
    element("text", { x: box.right, y: y - 13, "text-anchor": "end" }, box.svg, row.note);
    element("line", { class: "stem", x1: x(row.from), x2: x(row.to), y1: y, y2: y }, box.svg);
    element("circle", { class: "hollow", cx: x(row.from), cy: y, r: 7 }, box.svg);
    element("circle", { class: "point", cx: x(row.to), cy: y, r: 4 }, box.svg);
  });
}

// A rate with its interval, beside what chance gives.
function intervalPicture(holder, { rate, low, high, chance, chanceHigh }, words) {
  const box = frame(holder, words, { height: 74, left: 12, bottom: 30, top: 8 });
  const step = niceStep(Math.max(high, chanceHigh, 0.001) * 1.1 / 4), most = 4 * step;
  const x = (v) => box.left + (v / most) * (box.right - box.left), middle = (box.top + box.bottom) / 2;
  for (let i = 0; i <= 4; i++) {
    element("line", { x1: x(i * step), x2: x(i * step), y1: box.top, y2: box.bottom, class: "axis" }, box.svg);
    element("text", { x: x(i * step), y: box.bottom + 17, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle" }, box.svg, percent(i * step));
  }
  if (chanceHigh > chance) {
    element("rect", { x: x(0), width: x(chanceHigh) - x(0), y: box.top, height: box.bottom - box.top, class: "chance" }, box.svg);
  }
  element("line", { x1: x(chance), x2: x(chance), y1: box.top, y2: box.bottom, class: "chance-line" }, box.svg);
  element("line", { x1: x(low), x2: x(high), y1: middle, y2: middle, class: "interval" }, box.svg);
  element("circle", { cx: x(rate), cy: middle, r: 7, class: "point" }, box.svg);
}

function table(holder, heads, rows) {
  const made = document.createElement("table");
  const line = (cells, tag, parent) => {
    const row = parent.insertRow();
    cells.forEach((text, i) => {
      const cell = document.createElement(i === 0 && tag === "td" ? "th" : tag);
      if (cell.tagName === "TH") cell.scope = tag === "th" ? "col" : "row";
      cell.textContent = text;
      row.append(cell);
    });
  };
  line(heads, "th", made.createTHead());
  const body = made.createTBody();
  rows.forEach((row) => line(row, "td", body));
  holder.replaceChildren(made);
}
