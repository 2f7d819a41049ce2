/** How fast the root grows, and when its disk is full: from a few samples of its size, which are kept over restarts. */
export type Sample = {
  /** Unix ms. */
  readonly at_ms: number
  /** Of the whole root. */
  readonly bytes: number
  /** Of each kind. */
  readonly kinds: Readonly<Record<string, number>>
}

const hour = 3_600_000
const day = 24 * hour
/** Two samples are about so far apart. */
export const sampleEvery = 6 * hour
/** A rate is that of so much time, if there are samples of it. */
const week = 7 * day
const most = week / sampleEvery + 2

const within = (samples: readonly Sample[], now: Sample): readonly Sample[] =>
  // What has a stamp ahead of now is of a clock that was wrong.
  samples.filter(({ at_ms }) => at_ms < now.at_ms && at_ms >= now.at_ms - week - sampleEvery)

/** The samples with one more, of which those that no rate needs any more are left out. */
export const sampled = (samples: readonly Sample[], sample: Sample): readonly Sample[] =>
  [...within(samples, sample), sample].slice(-most)

/** Bytes a day over the last week, or over as much of it as is known; undefined if that is too little. */
export const growthOf = (
  samples: readonly Sample[],
  now: Sample,
  of: (sample: Sample) => number | undefined = ({ bytes }) => bytes,
): number | undefined => {
  const [first] = within(samples, now)
  const [before, after] = [first && of(first), of(now)]
  if (first === undefined || before === undefined || after === undefined) return undefined
  const span = now.at_ms - first.at_ms
  return span < sampleEvery ? undefined : ((after - before) / span) * day
}

export type Forecast =
  | { readonly forecast: 'unknown' | 'not_growing' }
  /** Unix ms. */
  | { readonly forecast: 'full_at'; readonly full_at_ms: number }

/** A disk that fills in more than this is of no concern, and dates end somewhere. */
const farMs = 1000 * 365 * day

/** When `free` bytes are used up at this rate. */
export const forecastOf = (growth: number | undefined, { free, now }: { free: number; now: number }): Forecast => {
  if (growth === undefined) return { forecast: 'unknown' }
  const left = growth <= 0 ? Infinity : (free / growth) * day
  return left > farMs ? { forecast: 'not_growing' } : { forecast: 'full_at', full_at_ms: Math.round(now + left) }
}
