/**
 * The seam: every file operation of the daemon goes through a Disk. Paths are
 * absolute. The real one is `createDisk`; the tests have a simulated one that
 * can lose, tear, reorder and refuse (test/faults).
 */
export interface FileStat {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  readonly uid: number
  readonly dev: number
  readonly ino: number
  readonly links: number
}

export interface DiskFile {
  readonly path: string
  /**
   * Writes all bytes at a position, looping over short writes; throws on the first failure, with an unknown part
   * written.
   */
  write(bytes: Uint8Array, position: number): Promise<void>
  /** fdatasync. A failure is final for this file: do not retry. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  size(): number
  /** How a thread reads it, and what is another once it changed. Absent where it is no file of the system. */
  readonly system?: { readonly fd: number; readonly stamp: string }
  /** Reads up to `length` bytes; fewer at the end of the file. */
  read(position: number, length: number): Uint8Array
  close(): Promise<void>
}

export interface Disk {
  /** `create` fails if the path exists (O_EXCL), mode 0600. Nothing follows a symbolic link. */
  open(path: string, how: 'read' | 'write' | 'create'): Promise<DiskFile>
  /** Opens for reading at once; for records that have left memory. */
  openSync(path: string): DiskFile
  /** Whole file, or its first `most` bytes if it has more; undefined if absent. */
  readFile(path: string, most?: number): Uint8Array | undefined
  /** Replaces a file: temp, write all, fsync, rename, fsync of the folder. Old or new, never half. */
  replace(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Hard link. */
  link(from: string, to: string): Promise<void>
  /** Creates one folder, 0700; no error if it is there. */
  makeFolder(path: string): Promise<void>
  removeFolder(path: string): Promise<void>
  /** Takes all rights from other users: 0600 for a file, 0700 for a folder. */
  restrict(path: string): Promise<void>
  /** fsync of a folder: makes names in it durable. */
  syncFolder(path: string): Promise<void>
  /** Names in a folder, sorted; empty if it is absent. */
  list(path: string): string[]
  /** lstat; undefined if absent. */
  stat(path: string): FileStat | undefined
  /** Bytes free for this process, none when hardly a file can be made, and the file system's type number. */
  space(path: string): { readonly free: number; readonly type: number; readonly isOutOfFiles?: true }
}
