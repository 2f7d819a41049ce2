/** Files that the process was given open: standard input, output and error. */
import { fstatSync, writeSync, type Stats } from 'node:fs'

const statOf = (fd: number): Stats | undefined => {
  try {
    return fstatSync(fd)
  } catch {
    return undefined
  }
}

export const isFile = (fd: number): boolean => statOf(fd)?.isFile() === true

/** Writes all of it: a file that is full takes a part first. Throws what the system says. */
export const writeWhole = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}

/** Numbers of devices that are terminals. */
const isTerminal = (device: number): boolean => {
  const major = (device >> 8) & 0xfff
  return major === 4 || major === 5 || (major >= 136 && major <= 143)
}

/** True of a terminal that was closed. */
export const isLostTerminal = (fd: number): boolean => {
  const device = statOf(fd)?.rdev ?? 0
  return isTerminal(device) && !process.getBuiltinModule('node:tty').isatty(fd)
}
