/**
 * `backup create`, `backup verify`, `backup restore`; `release`, which lets a daemon on a restored root begin. Like all
 * commands they load what does the work when they are called: every command line reads this file.
 */
import path from 'node:path'
import { createClock } from '../base/clock.js'
import { count } from '../base/text/command-text.js'
import { boolean, open } from '../base/schema.js'
import { showTime } from '../base/time/moments.js'
import { defineCommand, type Command, type CommandInput } from '../plugin/command.js'
import type { Log } from '../base/text/log.js'
import type { BackupReport } from '../state/inspect/backup.js'
import type { BackupCheck, RestoreReport } from '../state/inspect/backup-restore.js'
import { createDisk } from '../state/disk/real-disk.js'
import { progressFlags, telling, type Heeded } from './progress-line.js'
import type { ShippedView } from './shipped-view.js'
import { placeOf, rootFlag } from './root/place.js'
import { firstFindings } from './told/first-findings.js'

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** What an interrupt leaves. */
const asBefore = (what: string, to: string): string => `No ${what} was made, and ${to} is as it was before.`

/** Under the lock, so that no daemon starts meanwhile. */
const backupStopped = async (root: string, to: string, heeded: Heeded): Promise<BackupReport> => {
  const { acquireLock } = await import('../state/root/lock.js')
  const { writeBackup } = await import('../state/inspect/backup.js')
  const { cutStopped } = await import('../state/inspect/snapshot.js')
  const [disk, clock] = [createDisk(), createClock()]
  const lock = await acquireLock({ root, clock, log: silent, disk })
  try {
    return await writeBackup({ root: lock.root, to, disk, clock, cut: cutStopped(lock.root, disk), ...heeded })
  } finally {
    await lock.release()
  }
}

const create: Command = defineCommand({
  path: ['backup', 'create'],
  summary:
    'Write a backup to an absent or empty folder: through the daemon if one holds the root, directly if none does.',
  args: ['folder'],
  flags: { ...rootFlag, ...progressFlags },
  run: async (input: CommandInput) => {
    const to = path.resolve(input.args['folder'] ?? '')
    const place = placeOf(input)
    if (place.held) {
      const goesOn = `The daemon goes on: ${path.join(to, 'backup.json')} is there once the backup is whole.`
      return place.ask('/v1/backups', { path: to }, goesOn)
    }
    return telling(input, asBefore('backup', to), (heeded) => backupStopped(place.root, to, heeded))
  },
  show: ({ path: file, sequence, files, bytes, milliseconds }: BackupReport) =>
    `${file}: ${count(files, 'file')}, ${count(bytes, 'byte')}, up to commit ${sequence}, in ${milliseconds} ms. ` +
    'The folders secrets (with its key), config, plugins and skills are not in it.',
})

const place = async (shipped: ShippedView, input: CommandInput) => ({
  folder: path.resolve(input.args['folder'] ?? ''),
  disk: createDisk(),
  clock: createClock(),
  declared: await shipped.declarations(),
})

const showCheck = ({ backup, faults, root, clean }: BackupCheck): string => {
  const found = [...faults, ...root.findings].map(({ file, offset, rule }) => `${file} at byte ${offset}: ${rule}`)
  return [
    ...firstFindings(found),
    `${clean ? 'clean' : 'NOT CLEAN'}: ${count(backup.files.length, 'file')} up to commit ${backup.sequence}, ` +
      `made at ${showTime(backup.created_at_ms)}`,
  ].join('\n')
}

const verify = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['backup', 'verify'],
    summary: 'Compare every file of a backup with its digest and check the root inside.',
    args: ['folder'],
    flags: progressFlags,
    run: async (input) => {
      const options = await place(shipped, input)
      const { verifyBackup } = await import('../state/inspect/backup-restore.js')
      const unknown = 'Nothing was changed, and nobody knows yet whether the backup is whole.'
      return telling(input, unknown, (heeded) => verifyBackup({ ...options, ...heeded }))
    },
    show: showCheck,
    status: ({ clean }) => (clean ? 0 : 1),
  })

const restore = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['backup', 'restore'],
    summary: 'Make a state root of a backup, in an absent or empty folder.',
    args: ['folder'],
    flags: {
      ...progressFlags,
      to: { kind: 'text', value: 'folder', summary: 'The state root to make; must be absent or empty.' },
    },
    needs: ['--to'],
    run: async (input) => {
      const options = await place(shipped, input)
      const { restoreBackup } = await import('../state/inspect/backup-restore.js')
      const to = path.resolve(String(input.flags['to']))
      return telling(input, asBefore('root', to), (heeded) => restoreBackup({ ...options, ...heeded }, to))
    },
    show: ({ root, sequence, generation }: RestoreReport) =>
      `${root}: up to commit ${sequence}, generation ${generation}. Put the folders secrets, config, plugins ` +
      'and skills back, then start a daemon on it.',
  })

export const backupCommands = (shipped: ShippedView): readonly Command[] => [create, verify(shipped), restore(shipped)]

export const releaseCommand: Command = defineCommand({
  path: ['release'],
  route: 'POST /v1/release',
  summary: 'Let a daemon that holds begin runs, schedules and deliveries.',
  run: ({ client }) => client.send('POST', '/v1/release'),
  answer: open({ released: boolean() }),
  show: ({ released }) => (released ? 'Released: runs, schedules and deliveries begin.' : 'The daemon did not hold.'),
})
