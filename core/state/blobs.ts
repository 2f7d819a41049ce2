/** Bytes as a plugin sees them: named by their content, and no part of a commit. */

/** Names bytes by content: SHA-256 in hex and length in bytes. */
export interface BlobRef {
  readonly sha256: string
  readonly bytes: number
}

/** A blob that was found whole, to be read in pieces: whoever opens it closes it. */
export interface OpenBlob {
  readonly bytes: number
  /**
   * The bytes from `start` up to `end`, in pieces of 256 KiB at most, each verified once more as it is read. Throws
   * `blob_damaged` where they changed since.
   */
  pieces(start: number, end: number): Iterable<Uint8Array>
  close(): Promise<void>
}

/** Bytes, addressed by their content, verified on every read. Write the blob, then commit the record that names it. */
export interface Blobs {
  /**
   * Resolves when the bytes and their folder are on disk. Equal content is stored once. They must not change meanwhile.
   * `named` is told what they are called before anything is written.
   */
  put(bytes: Uint8Array, named?: (ref: BlobRef) => void): Promise<BlobRef>
  /** Undefined if absent. Throws `blob_damaged` if the bytes do not match. */
  read(ref: BlobRef): Promise<Uint8Array | undefined>
  /** For bytes that are many: holds a piece of them in memory. Undefined and `blob_damaged` as for `read`. */
  open(ref: BlobRef): Promise<OpenBlob | undefined>
  has(ref: BlobRef): boolean
  /** Everything that is there, named by a record or not: for a repair step. Reads folders as it is iterated. */
  refs(): Iterable<BlobRef>
  /** Removes bytes that no record names any more; call after the commit that dropped the last reference. */
  remove(ref: BlobRef): Promise<void>
}
