/**
 * What a process asked of the kernel about files, in order, and whether that order keeps what was acknowledged. Recorded
 * with strace where it works, elsewhere by a preload that stands between Node and its users.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type CallName =
  | 'create'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'makeFolder'
  | 'removeFolder'

export interface DiskCall {
  readonly call: CallName
  readonly path: string
  /** The new name of a rename or link. */
  readonly to?: string
}

export type Recorder = 'strace' | 'preload'

const traced = 'openat,open,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2'
const tracedNames = 'link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir'

const straceWorks = (): boolean => {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export const recorders = (): readonly Recorder[] => (straceWorks() ? ['strace', 'preload'] : ['preload'])

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** A file whose every write is an acknowledgement; it stands beside the root. */
export const acksOf = (root: string): string => `${root}.acks`

/** Runs a script on a fresh root; everything that it did to the root, and its acknowledgements. */
export const recordLife = async (script: string, how: Recorder): Promise<{ root: string; calls: DiskCall[] }> => {
  const top = mkdtempSync(join(tmpdir(), 'holdfast-calls-'))
  const [root, out] = [join(top, 'root'), join(top, 'calls')]
  const args = [here(script), root, acksOf(root)]
  try {
    if (how === 'strace') {
      const trace = ['-f', '-y', '-s', '0', '-e', `trace=${traced},${tracedNames}`, '-o', out]
      await promisify(execFile)('strace', [...trace, process.execPath, ...args])
    } else
      await promisify(execFile)(process.execPath, ['--import', here('disk-preload.js'), ...args], {
        env: { ...process.env, DISK_CALLS: out },
      })
    const text = existsSync(out) ? readFileSync(out, 'utf8') : ''
    const all =
      how === 'strace' ? fromStrace(text) : text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
    return { root, calls: all.filter(({ path }: DiskCall) => path.startsWith(root)) }
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}

const quoted = (text: string): string[] => Array.from(text.matchAll(/"([^"]*)"/gu), ([, path = '']) => path)
const ofHandle = (text: string): string => (/^\d+<([^>]*)>/u.exec(text)?.[1] ?? '').replace(' (deleted)', '')

const callOf = (name: string, args: string): DiskCall[] => {
  const [first = '', second] = quoted(args)
  if (name.startsWith('open') || name === 'creat')
    return args.includes('O_CREAT') ? [{ call: 'create', path: first }] : []
  if (name.includes('write')) return [{ call: 'write', path: ofHandle(args) }]
  if (name === 'fsync' || name === 'fdatasync') return [{ call: 'sync', path: ofHandle(args) }]
  if (name === 'ftruncate') return [{ call: 'truncate', path: ofHandle(args) }]
  if (name.startsWith('rename')) return [{ call: 'rename', path: first, to: second ?? '' }]
  if (name.startsWith('link')) return [{ call: 'link', path: first, to: second ?? '' }]
  if (name.startsWith('unlink')) return [{ call: 'unlink', path: first }]
  return name === 'rmdir' ? [{ call: 'removeFolder', path: first }] : [{ call: 'makeFolder', path: first }]
}

/** A call counts when it has returned; one that another thread interrupted is put together from its two lines. */
const fromStrace = (text: string): DiskCall[] => {
  const begun = new Map<string, string>()
  return text.split('\n').flatMap((line) => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/u.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, rest.slice(0, -'<unfinished ...>'.length))
      return []
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/u.exec(rest)
    const whole = resumed === null ? rest : `${begun.get(thread) ?? ''}${resumed[1] ?? ''}`
    const [, name = '', args = '', answer = ''] = /^(\w+)\((.*)\)\s+= (-?\d+)/u.exec(whole) ?? []
    return name === '' || answer.startsWith('-') ? [] : callOf(name, args)
  })
}

/** Nothing that was acknowledged rests on these. */
const unpromised = /\/(daemon\.lock|owner\.json|ballast|lock(\/|$)|spools\/.*)/u

const named = ({ call, path, to }: DiskCall): string | undefined => {
  if (call === 'create' || call === 'makeFolder') return path
  return call === 'rename' || call === 'link' ? to : undefined
}

/**
 * Sentences about what a power cut could take back: bytes that got their name, or were acknowledged, before they were
 * synced, and names that were acknowledged before their folder was.
 */
export const faultsIn = (calls: readonly DiskCall[], root: string): string[] => {
  const [bytes, names, faults] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let acks = 0
  for (const one of calls) {
    const { call, path, to = '' } = one
    if (path === acksOf(root)) {
      if (call !== 'write') continue
      acks += 1
      for (const file of bytes) faults.add(`acknowledgement ${acks}: bytes of ${file} are not synced`)
      for (const name of names) faults.add(`acknowledgement ${acks}: the name ${name} is not synced`)
      continue
    }
    if (unpromised.test(path.slice(root.length)) || path === root) {
      if (call === 'sync') for (const name of names) if (dirname(name) === path) names.delete(name)
      continue
    }
    if (call === 'write' || call === 'truncate') bytes.add(path)
    if (call === 'rename' && bytes.has(path)) faults.add(`${path} became ${to} before it was synced`)
    if (call === 'sync') {
      bytes.delete(path)
      for (const name of names) if (dirname(name) === path) names.delete(name)
    }
    if (call === 'unlink' || call === 'rename' || call === 'removeFolder') {
      names.delete(path)
      bytes.delete(path)
    }
    const name = named(one)
    if (name !== undefined) names.add(name)
  }
  return [...faults]
}
