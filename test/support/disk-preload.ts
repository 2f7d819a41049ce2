/** Loaded before everything else: notes each change of a file in the file that DISK_CALLS names. */
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

type Loose = any
const loose: Loose = fs
const looseFiles: Loose = promises
const { openSync, writeSync } = fs
const out = openSync(process.env['DISK_CALLS'] ?? '/dev/null', 'a')
const paths = new Map<number, string>()
const note = (call: string, path: string, to?: string): void =>
  void writeSync(out, `${JSON.stringify({ call, path, ...(to !== undefined && { to }) })}\n`)
const pathOf = (fd: number): string => paths.get(fd) ?? ''

const makes = (flags: unknown): boolean =>
  typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : typeof flags === 'string' && /^[wa]/u.test(flags)
const opened = (fd: number, path: unknown, flags: unknown): void => {
  paths.set(fd, String(path))
  if (makes(flags)) note('create', String(path))
}

/** What a call of each name does, told after it has returned without an error. */
const effects: Record<string, (args: Loose[], answer: Loose) => void> = {
  open: ([path, flags], fd) => opened(fd, path, flags),
  write: ([fd]) => note('write', pathOf(fd)),
  fsync: ([fd]) => note('sync', pathOf(fd)),
  fdatasync: ([fd]) => note('sync', pathOf(fd)),
  ftruncate: ([fd]) => note('truncate', pathOf(fd)),
  rename: ([from, to]) => note('rename', String(from), String(to)),
  link: ([from, to]) => note('link', String(from), String(to)),
  unlink: ([path]) => note('unlink', String(path)),
  mkdir: ([path]) => note('makeFolder', String(path)),
  rmdir: ([path]) => note('removeFolder', String(path)),
}

const watchSync = (name: string, effect: (args: Loose[], answer: Loose) => void): void => {
  const real = loose[`${name}Sync`]
  loose[`${name}Sync`] = (...args: Loose[]): Loose => {
    const answer = real(...args)
    effect(args, answer)
    return answer
  }
}
const watchCallback = (name: string, effect: (args: Loose[], answer: Loose) => void): void => {
  const real = loose[name]
  loose[name] = (...args: Loose[]): void => {
    const done = args.pop()
    real(...args, (error: unknown, ...answer: Loose[]) => {
      if (error === null || error === undefined) effect(args, answer[0])
      done(error, ...answer)
    })
  }
}
const watchPromise = (name: string, effect: (args: Loose[], answer: Loose) => void): void => {
  const real = looseFiles[name]
  if (real === undefined) return
  looseFiles[name] = async (...args: Loose[]): Promise<Loose> => {
    const answer = await real(...args)
    effect(args, name === 'open' ? answer.fd : answer)
    return answer
  }
}

const handles: Record<string, string> = {
  write: 'write',
  writeFile: 'write',
  appendFile: 'write',
  sync: 'sync',
  datasync: 'sync',
  truncate: 'truncate',
}
const watchHandles = async (): Promise<void> => {
  const probe = await promises.open('/')
  const prototype: Loose = Object.getPrototypeOf(probe)
  await probe.close()
  for (const [name, call] of Object.entries(handles)) {
    const real = prototype[name]
    prototype[name] = async function watched(this: Loose, ...args: Loose[]): Promise<Loose> {
      const answer = await real.apply(this, args)
      note(call, pathOf(this.fd))
      return answer
    }
  }
}

await watchHandles()
for (const [name, effect] of Object.entries(effects)) {
  watchSync(name, effect)
  watchCallback(name, effect)
  watchPromise(name, effect)
}
syncBuiltinESMExports()
