/** The state root that a command is about, and who is to be asked about it. */
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { environment } from '../../base/config.js'
import { Problem } from '../../base/errors.js'
import type { Json, JsonObject } from '../../base/schema.js'
import { parseBind } from '../../base/settings.js'
import type { CommandInput } from '../../plugin/command.js'
import { createDisk } from '../../state/disk/real-disk.js'
import { errors } from '../../state/errors.js'
import { absentRoot } from '../../state/root/root-check.js'
import { findHolder } from '../../state/root/owner.js'
import { readRoot } from '../../state/root/root-document.js'

export const rootFlag = {
  'state-root': { kind: 'text', summary: 'The state root; SERVICE_STATE_ROOT, else ./state.' },
} as const

type Flags = CommandInput['flags']

/** What the line or the environment names; undefined where neither does. */
const namedRoot = (flags: Flags): string | undefined => {
  const flag = flags['state-root']
  return typeof flag === 'string' ? flag : environment()['SERVICE_STATE_ROOT']
}

export const rootOf = (flags: Flags): string => path.resolve(namedRoot(flags) ?? './state')

const onAll: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['[::]', '::1'],
])
/** A root may have come from anybody: what it says of an address must not send a token to another machine. */
const isHere = (host: string): boolean =>
  Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === host))

/** The daemon that says in the root that it holds it; undefined where none does, or none on this machine. */
export const urlOfHolder = (flags: Flags): string | undefined => {
  const { bind } = findHolder(rootOf(flags)) ?? {}
  const parsed = bind === undefined ? undefined : parseBind(bind)
  if (parsed === undefined) return undefined
  const host = (onAll.get(parsed.host) ?? parsed.host).replaceAll(/[[\]]/gu, '')
  return isHere(host) ? `http://${host.includes(':') ? `[${host}]` : host}:${parsed.port}` : undefined
}

export type RootPlace =
  | { readonly held: true; ask(route: string, body: JsonObject, goesOn: string): Promise<Json> }
  | { readonly held: false; readonly root: string }

/**
 * `goesOn` says what becomes of it where who asked does not wait for the answer.
 *
 * Through the daemon if one holds the root, or if a daemon is named and no root; directly if none does. Throws
 * `state_root_absent`, or `state_root_foreign` or `state_root_inner` where there are files and no `root.json`.
 */
export const placeOf = ({ client, flags, addressed, signal }: CommandInput): RootPlace => {
  const send = (route: string, body: JsonObject, goesOn: string): Promise<Json> =>
    client.send('POST', route, body).catch((error: unknown) => {
      throw signal.aborted ? errors.interrupted({ details: { stands: goesOn }, cause: error }) : error
    })
  if (addressed && namedRoot(flags) === undefined) return { held: true, ask: send }
  const root = rootOf(flags)
  const disk = createDisk()
  const facts = readRoot({ root, disk })
  if (facts === undefined) throw absentRoot(root, disk)
  const holder = findHolder(root)
  if (holder === undefined) return { held: false, root }
  const elsewhere = (error: unknown): never => {
    if (!(error instanceof Problem) || error.code !== 'daemon_unreachable') throw error
    throw errors.holder_unreachable({ details: { path: root, pid: holder.pid, url: client.baseUrl }, cause: error })
  }
  return {
    held: true,
    ask: (route, body, goesOn) => send(route, { ...body, root_id: facts.root_id }, goesOn).catch(elsewhere),
  }
}
