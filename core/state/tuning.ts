/** Sizes of tables. */
export interface TableTuning {
  /** Rows of a leaf, and children of a node. */
  readonly blockRows: number
  /** Rows of a table of the lowest level, at most. */
  readonly levelRows: number
  /** Tables of one level become one of the next when there are so many. */
  readonly fanOut: number
  /** A table with so many rows is full: no other takes it with it. */
  readonly fullRows: number
}

/** Sizes and times of the store. Tests make them small. */
export interface Tuning {
  /** The log is checkpointed when it has grown by this many bytes. Until then memory holds what it says. */
  readonly segmentBytes: number
  /** Most bytes of one commit. */
  readonly longestLine: number
  /** Real bytes kept to close in order on a full disk; 0 for none. */
  readonly ballastBytes: number
  /** Refuse changes when the file system has less than this free. */
  readonly freeBytes: number
  readonly watermarkMs: number
  /** First pause before storage tries to write again; doubles up to `longestRetryMs`. */
  readonly retryMs: number
  readonly longestRetryMs: number
  /** A new page is begun behind this many bytes. */
  readonly pageBytes: number
  /** Most pages and tables of a root that are open for reading at a time. */
  readonly openPages: number
  readonly tables: TableTuning
  /** Bytes of tables that are kept for the next reader; in memory they are about six times as many. */
  readonly blockBytes: number
  /**
   * Bytes of records on pages that are kept for the next reader, and one KiB for each: about what they take. Two
   * thousand busy sessions with a persona of 8 KiB each fit.
   */
  readonly recordBytes: number
}

const mebibyte = 1024 * 1024

export const defaultTuning: Tuning = {
  segmentBytes: 4 * mebibyte,
  longestLine: 24 * mebibyte,
  ballastBytes: mebibyte,
  freeBytes: 64 * mebibyte,
  watermarkMs: 1000,
  retryMs: 1000,
  longestRetryMs: 30_000,
  pageBytes: 16 * mebibyte,
  openPages: 128,
  tables: { blockRows: 128, levelRows: 4096, fanOut: 8, fullRows: 262_144 },
  blockBytes: 4 * mebibyte,
  recordBytes: 32 * mebibyte,
}
