/**
 * Loaded before everything else: while there is a file that HOLD_SYNCS names, what is written to the log is not synced.
 * That one sync has begun is told by a file beside it.
 */
import { existsSync, readlinkSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

const held = process.env['HOLD_SYNCS'] ?? ''
const probe = await open('/')
const prototype: FileHandle = Object.getPrototypeOf(probe)
await probe.close()
const { datasync } = prototype
const isHeld = ({ fd }: FileHandle): boolean =>
  existsSync(held) && readlinkSync(`/proc/self/fd/${fd}`).includes('/log/')

prototype.datasync = async function heldSync(this: FileHandle): Promise<void> {
  if (!isHeld(this)) return datasync.call(this)
  writeFileSync(`${held}.reached`, '')
  return new Promise(() => {})
}
