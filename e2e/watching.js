// What a person sees and hears on a page that shows a desktop, measured in the page.

/** Keeps the analysers that a page makes, so that a test can read the samples that pass through them. */
export function keepAnalysers() {
  const make = BaseAudioContext.prototype.createAnalyser;
  window.analysers = [];
  BaseAudioContext.prototype.createAnalyser = function () {
    const analyser = make.call(this);
    window.analysers.push(analyser);
    return analyser;
  };
}

/** Returns the share of the energy that the page plays which is at a frequency, and the amplitude of all of it. */
export function hear(frequency) {
  const analyser = window.analysers.at(-1);
  if (!analyser) return { amplitude: 0, share: 0 };
  const samples = new Float32Array(analyser.fftSize);
  analyser.getFloatTimeDomainData(samples);
  let [energy, cos, sin] = [0, 0, 0];
  for (const [n, sample] of samples.entries()) {
    const angle = (2 * Math.PI * frequency * n) / analyser.context.sampleRate;
    energy += sample * sample;
    cos += sample * Math.cos(angle);
    sin += sample * Math.sin(angle);
  }
  const share = energy === 0 ? 0 : (2 * (cos * cos + sin * sin)) / (samples.length * energy);
  return { amplitude: Math.max(...samples.map(Math.abs)), share };
}

/** Counts the pictures that are drawn within a time, and returns the colours of the middle row. */
export async function look(ms) {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const line = () => [...context.getImageData(0, canvas.height / 2, canvas.width, 1).data];
  let [last, n_pictures] = ["", 0];
  const began = performance.now();
  while (performance.now() - began < ms) {
    const now = line().join();
    if (now !== last) n_pictures += 1;
    last = now;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  const pixels = line();
  const colours = Array.from({ length: canvas.width }, (_, x) => pixels.slice(4 * x, 4 * x + 3));
  return { n_pictures, colours, size: [canvas.width, canvas.height] };
}

/**
 * Returns the milliseconds from each flash to its beep: how much later a person hears what belongs to a picture. It
 * watches for `ms`. A flash turns the left edge white, `height` of the screen below its upper edge, and a beep follows
 * silence.
 */
export function offsets({ ms, height }) {
  const canvas = document.querySelector("canvas");
  const picture = canvas.getContext("2d", { willReadFrequently: true });
  const analyser = window.analysers.at(-1);
  const samples = new Float32Array(analyser.fftSize);
  const { context } = analyser;
  const seen = [];
  const heard = [];
  let [isBright, lastLoudAt] = [true, performance.now()];
  const check = () => {
    const [red, green, blue] = picture.getImageData(8, Math.floor(height * canvas.height), 1, 1).data;
    const wasBright = isBright;
    isBright = Math.min(red, green, blue) > 160;
    if (isBright && !wasBright) seen.push(performance.now());
    analyser.getFloatTimeDomainData(samples);
    const now = performance.now();
    const first = samples.findIndex((sample) => Math.abs(sample) > 0.05);
    if (first !== -1) {
      // The newest sample is heard when it has passed the device, which takes a time that is known only while it plays.
      const age = (samples.length - first) / context.sampleRate - (context.outputLatency || 0);
      if (now - lastLoudAt > 200) heard.push(now - 1000 * age);
      lastLoudAt = now;
    }
  };
  return new Promise((resolve) => {
    const timer = setInterval(check, 2);
    setTimeout(() => {
      clearInterval(timer);
      const offset = (at) => {
        const near = heard.map((time) => time - at).filter((difference) => Math.abs(difference) < 500);
        return near.sort((one, other) => Math.abs(one) - Math.abs(other))[0];
      };
      resolve(seen.map(offset).filter((difference) => difference !== undefined));
    }, ms);
  });
}

/**
 * A page that moves a bar all the time. From a click on, it flashes and beeps once a second, both at the moment at which
 * the sound leaves the browser.
 */
export const flashPage = (frequency) => `<!doctype html><title>film</title>
<style>body { margin: 0; height: 100vh; background: #1e3a8a; overflow: hidden }
  body.bright { background: #fff }
  i { position: fixed; top: 40%; height: 30%; width: 20vw; background: #f59e0b }</style><body><i></i>
<script>
  const bar = document.querySelector("i");
  let [context, next] = [null, 0];
  const move = (now) => {
    bar.style.left = (now / 20) % 80 + "vw";
    if (context) {
      const { contextTime, performanceTime } = context.getOutputTimestamp();
      const heard = contextTime + (now - performanceTime) / 1000;
      if (context.currentTime > next - 0.5) {
        next = Math.ceil(context.currentTime + 0.3) + 1;
        const tone = new OscillatorNode(context, { frequency: ${frequency} });
        tone.connect(new GainNode(context, { gain: 0.5 })).connect(context.destination);
        tone.start(next);
        tone.stop(next + 0.35);
        beeps.push(next);
      }
      document.body.className = beeps.some((at) => heard >= at && heard < at + 0.35) ? "bright" : "";
    }
    requestAnimationFrame(move);
  };
  const beeps = [];
  requestAnimationFrame(move);
  document.body.onclick = () => { context ??= new AudioContext(); };
</script>`;

/** Returns the median of some numbers. */
export const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
