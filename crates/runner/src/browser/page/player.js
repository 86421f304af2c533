// The player of a page: its largest video, or its sound if there is no video.
globalThis.deskhandPlayer ??= (() => {
  // Returns all media of this frame, those in open shadow trees included.
  const mediaIn = root => {
    const found = [...root.querySelectorAll('video, audio')];
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) found.push(...mediaIn(element.shadowRoot));
    return found;
  };
  const areaOf = element => {
    const box = element.getBoundingClientRect();
    return element.tagName === 'VIDEO' ? Math.max(1, box.width * box.height) : 0;
  };
  // A player that plays or has something to play counts before one that is empty, then the larger one.
  const weightOf = element => (element.readyState > 0 || !element.paused ? 1e9 : 0) + areaOf(element);
  const best = () => mediaIn(document).sort((a, b) => weightOf(b) - weightOf(a))[0];
  const whole = number => Math.max(0, Math.round(number));

  const stateOf = element => ({
    weight: whole(weightOf(element)),
    state: {
      has_picture: element.tagName === 'VIDEO',
      is_paused: element.paused,
      is_ended: element.ended,
      is_muted: element.muted || element.volume === 0,
      fills_screen: !!document.fullscreenElement?.contains(element) || !!element.getRootNode().fullscreenElement,
      is_waiting: element.readyState < HTMLMediaElement.HAVE_FUTURE_DATA,
      is_broken: !!element.error,
      position_ms: whole(element.currentTime * 1000),
      duration_ms: Number.isFinite(element.duration) ? whole(element.duration * 1000) : null,
      n_frames: element.getVideoPlaybackQuality?.().totalVideoFrames ?? 0,
    },
  });

  // A page may refuse a wish for reasons of its own. The state that follows says whether it was granted.
  const grant = {
    look: () => {},
    play: async element => {
      element.muted = false;
      if (element.volume < 0.5) element.volume = 1;
      // The promise of a player without data stays open, so it is not waited for any longer than this.
      if (element.paused) await Promise.race([element.play(), new Promise(done => setTimeout(done, 3000))]);
    },
    fill_screen: async element => {
      if (element.tagName === 'VIDEO' && !document.fullscreenElement) await element.requestFullscreen();
    },
    stop: async element => {
      element.pause();
      if (document.fullscreenElement) await document.exitFullscreen();
    },
  };

  return async wish => {
    const status = performance.getEntriesByType('navigation')[0]?.responseStatus || null;
    const element = best();
    if (!element) return { status, weight: 0, player: null };
    try { await grant[wish](element); } catch { /* The state tells. */ }
    const { weight, state } = stateOf(element);
    return { status, weight, player: state };
  };
})();
