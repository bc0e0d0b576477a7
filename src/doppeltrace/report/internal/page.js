// The page: reads the findings and fills the sections. Every word from the data goes in as text.
(() => {
  const found = JSON.parse(document.getElementById("findings").textContent);
  const by = (id) => document.getElementById(id);
  const { places, population, slots, flows, visits, clusters, audit } = found;
  const FEW = "fewer than 5 users";

  const name = (i) => places.category ? `${places.label[i]} (${places.category[i]})` : places.label[i];

  function unpack(text, scale) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 2 }, (_, i) => (view.getUint16(2 * i, true) / 65535) ** 2 * scale);
  }

  function unpackBits(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return (i) => ((bytes[i >> 3] >> (7 - (i & 7))) & 1) === 1;
  }

  function reveal(key, there) {
    document.querySelectorAll(`[data-if="${key}"]`).forEach((block) => { block.hidden = !there; });
    document.querySelectorAll(`[data-unless="${key}"]`).forEach((block) => { block.hidden = there; });
  }

  function busiest(shares, n = 3) {
    return Array.from(shares, (share, i) => [share, i]).sort((a, b) => b[0] - a[0]).slice(0, n);
  }

  function inWords(shares, hidden = () => false) {
    return busiest(shares.map((share, i) => (hidden(i) ? 0 : share))).filter(([share]) => share > 0).map(([share, i]) => `${name(i)} ${percent(share)}`).join(", ") || "no events";
  }

  const redraws = [];
  function drawn(draw) {
    redraws.push(draw);
    draw();
  }

  function slotTicks() {
    return slots.map((slot) => slot.split("–")[0]);
  }

  // ------------------------------------------------------------------ map with a slider
  function showMap() {
    const n = places.on_map;
    const real = unpack(population.real, population.scale);
    const synthetic = unpack(population.synthetic, population.scale);
    const suppressed = unpackBits(population.suppressed);
    const maps = ["real", "synthetic", "difference"].map((id) => new PlaceMap(by(`map-${id}`), places).addDots(n));
    const slider = by("slot");
    slider.max = slots.length - 1;
    shareLegend(by("legend-share"), "share of the slot’s events", population.drawn, population.scale);

    let cursor;
    drawn(() => {
      const series = ["uniform", "training", "synthetic"].map((kind) => ({ name: kind, values: kind === "synthetic" ? population.tp_tv : population[kind] }));
      const most = Math.min(1, Math.max(0.1, 1.1 * Math.max(...series.flatMap((s) => s.values))));
      const chart = lines(by("slot-chart"), {
        xs: slots.map((_, i) => i), series, labels: slotTicks(), most,
        at: (i) => (slots.length > 1 ? i / (slots.length - 1) : 0.5), format: (v) => v.toFixed(2),
      }, "Total variation between real and synthetic population in each slot (solid), beside the training users themselves (dashed) and the uniform distribution (dotted).", { right: 78, height: 220 });
      let free = 0; // labels at the line ends, from the top down, none on another
      for (const s of [...series].sort((a, b) => b.values.at(-1) - a.values.at(-1))) {
        free = Math.max(free + 13, chart.y(s.values.at(-1)) + 4);
        element("text", { x: chart.box.right + 8, y: free }, chart.box.svg, s.name);
      }
      cursor = {
        ...chart,
        line: element("line", { class: "cursor", y1: chart.box.top, y2: chart.box.bottom }, chart.box.svg),
        dot: element("circle", { class: "point", r: 4.5 }, chart.box.svg),
      };
      show();
    });

    function show() {
      const slot = Number(slider.value);
      const a = real.subarray(slot * n, (slot + 1) * n), b = synthetic.subarray(slot * n, (slot + 1) * n);
      const d = b.map((share, i) => share - a[i]);
      const when = slots[slot], few = (i) => suppressed(slot * n + i);
      slider.setAttribute("aria-valuetext", when);
      by("slot-name").textContent = when;
      maps[0].showShares(a, population.drawn, `Map of real events at ${when}. Busiest: ${inWords(a, few)}.`);
      maps[1].showShares(b, population.drawn, `Map of synthetic events at ${when}. Busiest: ${inWords(b)}.`);
      maps[2].showDifferences(d, population.drawn, `Map of synthetic minus real at ${when}. Most above: ${inWords(d, few)}. Most below: ${inWords(d.map((x) => -x), few)}.`);
      const tv = population.tp_tv[slot];
      by("slot-figures").textContent = `TP-TV in this slot: ${tv.toFixed(3)}, so ${Math.round(100 * tv)} % of the events would have to be elsewhere for the two to agree. The training users themselves: ${population.training[slot].toFixed(3)}; every place equally likely (uniform): ${population.uniform[slot].toFixed(3)}.`;
      table(by("slot-table"), ["place", "real", "synthetic", "difference, percentage points"], busiest(a.map((share, i) => (few(i) ? 0 : share + b[i])), 12)
        .filter(([both]) => both > 0).map(([, i]) => [name(i), percent(a[i]), percent(b[i]), points(d[i])]));
      by("slot-table-note").textContent = `By the share of both together, the largest first. Places with ${FEW} in this slot are left out: ${a.filter((_, i) => few(i)).length.toLocaleString("en")} of ${n.toLocaleString("en")}.`;
      const x = cursor.x(slot);
      cursor.line.setAttribute("x1", x);
      cursor.line.setAttribute("x2", x);
      cursor.dot.setAttribute("cx", x);
      cursor.dot.setAttribute("cy", cursor.y(tv));
      for (const map of maps) {
        map.svg.onpointermove = map.svg.onpointerdown = (event) => {
          const i = map.nearest(event);
          if (i >= 0) by("map-readout").textContent = `${name(i)}, ${when}: real ${few(i) ? FEW : percent(a[i])}, synthetic ${percent(b[i])}`;
        };
      }
    }

    let timer = null;
    function play(on) {
      clearInterval(timer);
      timer = on ? setInterval(() => move(1, true), 700) : null;
      by("play").setAttribute("aria-pressed", String(on));
      by("play").textContent = on ? "Pause" : "Play";
    }
    function move(step, round = false) {
      const next = Number(slider.value) + step;
      slider.value = round ? (next + slots.length) % slots.length : next;
      show();
    }
    slider.addEventListener("input", () => { play(false); show(); });
    by("earlier").addEventListener("click", () => { play(false); move(-1); });
    by("later").addEventListener("click", () => { play(false); move(1); });
    by("play").addEventListener("click", () => play(timer === null));
    slider.value = Math.floor(slots.length / 2);
    show();
  }

  // ------------------------------------------------------------------ flows and histograms
  function showFlows() {
    const MOST = 50;
    const drawnFlows = {};
    const widest = Math.max(...flows.flatMap((f) => [f.real ?? 0, f.synthetic]));
    for (const kind of ["real", "synthetic"]) {
      const top = flows.map((f) => ({ ...f, share: f[kind] })).filter((f) => f.share > 0)
        .sort((a, b) => b.share - a.share).slice(0, MOST);
      drawnFlows[kind] = top.length;
      const words = `Map of the ${top.length} strongest ${kind} flows. Strongest: ${top.slice(0, 3).map((f) => `${name(f.origin)} to ${name(f.destination)} ${percent(f.share)}`).join(", ") || "none"}.`;
      new PlaceMap(by(`flows-${kind}`), places).showFlows(top, widest, `of-${kind}`, words);
    }
    const both = flows.filter((f) => f.real !== 0 && f.synthetic > 0).length;
    const counted = ["real", "synthetic"].map((kind) => (drawnFlows[kind] ? `the ${drawnFlows[kind]} strongest ${kind} flows` : `no ${kind} flow`)).join(" and ");
    const empty = drawnFlows.real ? "" : " No flow of the real users has enough of them to be drawn.";
    by("flows-note").textContent = `The maps show ${counted}; the thickest line stands for ${percent(widest)} of all moves.${empty} Of the ${flows.length} flows in either picture, ${both} occur in both sets.`;
    table(by("flows-table"), ["flow", "real", "synthetic"], flows.map((f) => [`${name(f.origin)} → ${name(f.destination)}`, f.real === null ? FEW : percent(f.real), percent(f.synthetic)]));
  }

  function showMoveRates() {
    const rates = found.move_rates;
    const known = rates.real.map((share, i) => (share === null && rates.synthetic[i] === null ? -1 : i)).filter((i) => i >= 0);
    const loss = found.losses.find((row) => row.name === "move_rate");
    const words = loss && loss.synthetic !== null
      ? `On average ${percent(rates.real_mean)} real, ${percent(rates.synthetic_mean)} synthetic. In a time slot they differ by ${percent(loss.synthetic).replace("%", "percentage points")}: ${loss.verdict}.`
      : "There is nothing to compare.";
    by("move-rates-note").textContent = words;
    if (!known.length) return;
    const pick = (values) => known.map((i) => values[i] ?? 0);
    const labels = pick(slotTicks());
    drawn(() => histogram(by("move-rates-chart"), { labels, real: pick(rates.real), synthetic: loss ? pick(rates.synthetic) : [] },
      `Share of the events of each slot at another place than one instant before. ${words} Bars are real, points synthetic.`, { height: 200, bottom: 26 }));
    table(by("move-rates-table"), ["slot", "real", "synthetic"], known.map((i) => [slots[i], percent(rates.real[i]), percent(rates.synthetic[i])]));
  }

  function showHistograms() {
    const later = []; // the width of a picture is known when all of them have their place
    for (const h of found.histograms) {
      if (!h.real.length || !h.synthetic.length) continue;
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const hours = h.unit === "h", unit = hours ? "h:mm" : h.unit;
      const mean = (x) => (hours ? clockTime(x) : short(x));
      const means = `mean ${mean(h.real_mean)} real, ${mean(h.synthetic_mean)} synthetic`;
      caption.textContent = `${h.title}, ${unit}`;
      const holder = document.createElement("div");
      const note = document.createElement("p");
      note.className = "small";
      note.textContent = means;
      const details = document.createElement("details");
      const summary = document.createElement("summary");
      summary.textContent = `${h.title}: the numbers`;
      const numbers = document.createElement("div");
      details.append(summary, numbers);
      figure.append(caption, holder, note, details);
      by("histograms").append(figure);
      const labels = h.real.map((_, i) => hours ? clockTime(h.start + i * h.width) : short(h.start + i * h.width, 3));
      labels[labels.length - 1] += " +";
      later.push(() => histogram(holder, { labels, real: h.real, synthetic: h.synthetic }, `${h.title} in ${unit}: ${means}. Bars are real, points synthetic.`, { height: 170, bottom: 26 }));
      table(numbers, [`from ${unit}`, "real", "synthetic"], labels.map((label, i) => [label, percent(h.real[i]), percent(h.synthetic[i])]));
    }
    later.forEach(drawn);
  }

  // ------------------------------------------------------------------ visit-fractions
  function showVisits() {
    const select = by("place"), filter = by("place-filter");
    if (places.category) filter.placeholder = "name or category";
    function fill() {
      const wanted = filter.value.trim().toLowerCase();
      const options = visits.map((v, i) => [name(v.place), i]).filter(([label]) => label.toLowerCase().includes(wanted))
        .map(([label, i]) => new Option(label, i));
      if (!options.length) options.push(new Option(`none of the ${visits.length} busiest places has this in its name`, ""));
      select.replaceChildren(...options);
      show();
    }
    function show() {
      if (select.value === "") {
        by("place-figures").textContent = `None of the ${visits.length} busiest places has this in its name.`;
        by("place-chart").replaceChildren();
        by("place-table").replaceChildren();
        return;
      }
      const v = visits[Number(select.value)];
      const none = Array(24).fill(0), real = v.real.length ? v.real : none, synthetic = v.synthetic.length ? v.synthetic : none;
      const behind = `Behind the bars are ${v.real_users < 5 && v.real_users ? `${FEW}, so they are not drawn` : `${v.real_users.toLocaleString("en")} real users`}; behind the points ${v.traces.toLocaleString("en")} synthetic traces.`;
      by("place-figures").textContent = v.tv === null
        ? `${name(v.place)}: too few visitors with enough events to compare. ${behind}`
        : `${name(v.place)}: total variation ${v.tv.toFixed(3)} between the two distributions (0 equal, 1 nothing in common). ${behind}`;
      const labels = real.map((_, i) => (i % 6 ? "" : `${100 * i / 24}`));
      histogram(by("place-chart"), { labels, real, synthetic, stems: true, unit: "part of a visitor’s events at this place, %" },
        `Distribution of the part of their events that visitors give to ${name(v.place)}. Bars are real, points synthetic.`, { height: 220, bottom: 40 });
      table(by("place-table"), ["part of the events", "real", "synthetic"], real.map((share, i) => [`${Math.round(100 * i / 24)} to ${Math.round(100 * (i + 1) / 24)} %`, percent(share), percent(synthetic[i])]));
    }
    select.addEventListener("change", show);
    filter.addEventListener("input", fill);
    drawn(fill);
  }

  // ------------------------------------------------------------------ clusters
  function showClusters() {
    const maps = ["real", "synthetic"].map((kind) => new PlaceMap(by(`cluster-${kind}`), places).addDots());
    const shares = clusters.map((c) => [unpack(c.real, c.scale), unpack(c.synthetic, c.scale)]);
    let chosen = 0;
    const top = (list) => list.map(([place, share]) => [name(place), percent(share)]);
    function show() {
      const c = clusters[chosen], [real, synthetic] = shares[chosen];
      by("cluster-title").textContent = `Cluster ${chosen + 1} · ${c.title}`;
      by("cluster-text").textContent = `${c.description} The ${c.users.toLocaleString("en")} training users with most of it gave ${c.traces.toLocaleString("en")} released traces; their real and synthetic events are ${c.tv.toFixed(3)} apart (total variation), where all training users together are ${c.everyone_tv.toFixed(3)} away: ${c.verdict}.`;
      maps[0].showShares(real, c.scale, `Map of the real events of cluster ${chosen + 1}. Busiest: ${inWords(real)}.`);
      maps[1].showShares(synthetic, c.scale, `Map of the synthetic events of cluster ${chosen + 1}. Busiest: ${inWords(synthetic)}.`);
      shareLegend(by("legend-cluster"), "share of the cluster’s events", c.scale);
      histogram(by("cluster-hours"), { labels: slotTicks(), real: c.hours, synthetic: [] },
        `Weight of cluster ${chosen + 1} in each time slot. ${c.description}`, { height: 150, bottom: 26 });
      table(by("cluster-places"), ["place", "share of the factor"], top(c.places));
      table(by("cluster-next"), ["next place", "share of the factor"], top(c.next_places));
    }
    document.querySelectorAll('input[name="cluster"]').forEach((radio) => radio.addEventListener("change", () => {
      chosen = Number(radio.value);
      show();
    }));
    drawn(show);
  }

  // ------------------------------------------------------------------ privacy
  function showPrivacy() {
    const { reidentification: r, membership: m, pass_rates: rates } = found.privacy;
    if (r) drawn(() => intervalPicture(by("reidentification-chart"), { ...r, chanceHigh: r.chance }, `Re-identification rate ${percent(r.rate)}, interval ${percent(r.low)} to ${percent(r.high)}; chance ${percent(r.chance)}.`));
    if (m) drawn(() => intervalPicture(by("membership-chart"), { rate: m.advantage, low: m.low, high: m.high, chance: m.chance, chanceHigh: m.chance_high }, `Membership advantage ${percent(m.advantage)}, interval ${percent(m.low)} to ${percent(m.high)}; chance up to ${percent(m.chance_high)}.`));
    reveal("pass_rates", rates.length > 1);
    if (rates.length < 2) return;
    const most = rates.at(-1)[0], k = found.run.guarantee.parameters.k;
    drawn(() => {
      const chart = lines(by("pass-chart"), {
        xs: rates.map(([x]) => x), series: [{ name: "synthetic", values: rates.map(([, share]) => share) }],
        at: (x) => Math.log(x) / Math.log(most), most: 1, format: percent,
      }, `Share of the traces that pass the test, falling as k grows from 1 to ${most}.`, { height: 220, right: 24 });
      const spot = (x) => chart.box.left + (Math.log(x) / Math.log(most)) * (chart.box.right - chart.box.left);
      for (let x = 1; x <= most; x *= 10) for (const step of [1, 2, 5]) {
        if (step * x > most) break;
        element("text", { x: spot(step * x), y: chart.box.bottom + 17, "text-anchor": "middle" }, chart.box.svg, (step * x).toLocaleString("en"));
      }
      if (k && k <= most) {
        element("line", { class: "cursor", x1: spot(k), x2: spot(k), y1: chart.box.top, y2: chart.box.bottom }, chart.box.svg);
        const late = spot(k) > (chart.box.left + chart.box.right) / 2; // the label stays inside,
        const high = rates.findLast(([x]) => x <= k)[1] > 0.5; // and off the curve
        element("text", { id: "pass-k", x: spot(k) + (late ? -6 : 6), y: high ? chart.box.bottom - 8 : chart.box.top + 10, "text-anchor": late ? "end" : "start" }, chart.box.svg, `k = ${k} of this run`);
      }
    });
    table(by("pass-table"), ["k", "traces that pass"], rates.map(([x, share]) => [x.toLocaleString("en"), percent(share)]));
  }

  // ------------------------------------------------------------------ audit
  function showAudit() {
    const { canaries, lira } = audit ?? {};
    if (canaries && Object.keys(canaries).length) {
      const rows = Object.entries(canaries).sort((a, b) => b[1].epsilon - a[1].epsilon);
      const words = rows.map(([label, c]) => `${label}: shown ${percent(c.shown_in)} in, ${percent(c.shown_out)} out, ε at least ${short(c.epsilon, 2)}`).join("; ");
      drawn(() => pairs(by("canary-chart"), rows.map(([label, c]) => ({ label, from: c.shown_out, to: c.shown_in, note: `ε ≥ ${short(c.epsilon, 2)}` })), `Canaries. ${words}.`));
    }
    if (lira?.curve) drawn(() => {
      const { fpr, tpr, null_tpr: chance } = lira.curve;
      const chart = lines(by("lira-chart"), {
        xs: fpr, series: [{ name: "training", values: chance }, { name: "synthetic", values: tpr }], at: (x) => x, most: 1, format: percent,
      }, `Curve of the attack: AUC ${lira.auc.toFixed(2)}, with shuffled labels ${lira.null_auc.toFixed(2)}. Solid is the attack, dashed is chance.`, { height: 280, bottom: 40, right: 20, widest: 420 });
      for (const x of [0, 0.25, 0.5, 0.75, 1]) element("text", { x: chart.box.left + x * (chart.box.right - chart.box.left), y: chart.box.bottom + 17, "text-anchor": "middle" }, chart.box.svg, percent(x));
      element("text", { x: chart.box.right, y: chart.box.height - 4, "text-anchor": "end" }, chart.box.svg, "false alarms");
    });
  }

  reveal("population", population !== null);
  reveal("flows", flows.length > 0);
  reveal("visits", visits.length > 0 && population !== null);
  reveal("clusters", clusters !== null && population !== null);
  if (population !== null) {
    showMap();
    showVisits();
    if (clusters !== null) showClusters();
  }
  if (flows.length) showFlows();
  showMoveRates();
  showHistograms();
  showAudit();
  showPrivacy();

  let width = document.documentElement.clientWidth, waiting = null;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (document.documentElement.clientWidth === width) return;
      width = document.documentElement.clientWidth;
      redraws.forEach((draw) => draw());
    }, 120);
  });
  const opened = [];
  addEventListener("beforeprint", () => document.querySelectorAll("details[data-print]:not([open])").forEach((d) => { d.open = true; opened.push(d); }));
  addEventListener("afterprint", () => opened.splice(0).forEach((d) => { d.open = false; }));
  performance.mark("interactive");
})();
