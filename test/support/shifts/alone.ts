/**
 * Files of the long suite that take minutes each: they have a process of their own, and the longest are first, as one
 * that is begun last would go on alone at the end. Ends of their paths.
 */
export const alone = [
  'sidechains/tree-kills',
  'faults/errors',
  'faults/crash-again',
  'faults/crash',
  'assets/kills',
  'faults/falls',
  'streamed/step-kills',
  'inspect/flips',
  'faults/mutants',
  'whole/kills',
  'assets/flips',
  'mcp/conformance',
  'normalisers/hostile',
  'derivations/kills',
  'normalisers/audio-corpus',
  'whole/worst-text',
  'golden/golden-root',
  'whole/roots',
  'model/model',
  'dispatch/kills',
  'observations/purges',
  'boards/kills',
].map((name) => `${name}.long.test.js`)
