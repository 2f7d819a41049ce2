/** Moves files and tails into the quarantine, each with its reason; nothing is deleted. */
import { dirname, join, relative } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { rangeOf, reading } from '../disk/pieces.js'
import type { Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { setAside } from '../format/quarantine.js'
import { seal } from '../format/sealed.js'

export interface AsideOptions {
  readonly disk: Disk
  readonly paths: Layout
}

const isFree = (disk: Disk, path: string): boolean =>
  disk.stat(path) === undefined && disk.stat(`${path}.json`) === undefined

/** A name in the quarantine that says where the file was. */
const freeName = ({ disk, paths }: AsideOptions, file: string, ending: string): string => {
  const name = `${relative(paths.root, file).replaceAll('/', '-')}${ending}`
  for (let n = 1; ; n += 1) {
    const made = n === 1 ? name : `${name}.copy${n}`
    if (isFree(disk, join(paths.quarantine, made))) return made
  }
}

/**
 * Gives a file a second name in the quarantine; `drop` takes the first one away. Between the two nothing can be lost.
 */
export const linkAside = async (options: AsideOptions, fault: Fault): Promise<() => Promise<void>> => {
  const { disk, paths } = options
  const { file } = fault
  const path = join(paths.quarantine, freeName(options, file, ''))
  await disk.makeFolder(paths.quarantine)
  await disk.replace(
    `${path}.json`,
    seal({ file, offset: fault.offset, rule: fault.rule, bytes: disk.stat(file)?.size ?? 0 }),
  )
  await disk.link(file, path)
  await disk.syncFolder(paths.quarantine)
  return async () => {
    await disk.unlink(file)
    await disk.syncFolder(dirname(file))
  }
}

export const moveAside = async (options: AsideOptions, fault: Fault): Promise<void> =>
  (await linkAside(options, fault))()

/** Copies the bytes from the fault on; the file keeps them until it is cut. */
export const copyTail = async (options: AsideOptions, fault: Fault): Promise<void> => {
  const { disk, paths } = options
  await disk.makeFolder(paths.quarantine)
  if ((disk.stat(fault.file)?.size ?? 0) <= fault.offset) return
  const name = freeName(options, fault.file, `-${fault.offset}.tail`)
  await reading(disk, fault.file, (file) =>
    setAside(disk, { folder: paths.quarantine, name, source: rangeOf(file, fault.offset), fault }),
  )
}

export const cutFile = async ({ disk }: AsideOptions, { file, offset }: Fault): Promise<void> => {
  if ((disk.stat(file)?.size ?? 0) <= offset) return
  const handle = await disk.open(file, 'write')
  try {
    await handle.truncate(offset)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
