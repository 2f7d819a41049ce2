/** The daemon of a root, for commands that need one also where none is at work. */
import { join } from 'node:path'
import { open, string, type Json } from '../../base/schema.js'
import { parse } from '../../base/parse.js'
import { configBytes } from '../../host/load/config-bytes.js'
import type { Client, CommandInput, NearDaemon } from '../../plugin/command.js'
import { makePrivateFolder } from '../../state/disk/private-folder.js'
import { createDisk } from '../../state/disk/real-disk.js'
import { realFolder } from '../../state/disk/outside.js'
import { findHolder } from '../../state/root/owner.js'
import { errors } from '../../state/errors.js'
import { rootOf } from './place.js'

/** A daemon in this process, for as long as a command needs it. */
export interface ShortDaemon {
  readonly client: Client
  stop(): Promise<void>
}

const Runtime = open({ state_root: string() })

/** A command must not write into one root and speak with the daemon of another. */
const checkRoot = (root: string, runtime: Json, url: string): void => {
  const parsed = parse(Runtime, runtime)
  const other = parsed.ok ? parsed.value.state_root : 'an unknown root'
  if (realFolder(other)?.path !== realFolder(root)?.path) throw errors.root_elsewhere({ details: { url, other, root } })
}

const filesOf = (root: string): Pick<NearDaemon, 'config' | 'writeConfig'> => {
  const disk = createDisk()
  const folder = join(root, 'config')
  const fileOf = (name: string): string => join(folder, `${name}.toml`)
  return {
    config(name) {
      const bytes = configBytes(disk, fileOf(name))
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
    },
    async writeConfig(name, text) {
      await disk.makeFolder(folder)
      if (text === undefined) await disk.unlink(fileOf(name))
      else await disk.replace(fileOf(name), new TextEncoder().encode(text))
    },
  }
}

const near = (client: Client, root: string, serves: boolean): NearDaemon => ({
  client,
  root,
  serves,
  ...filesOf(root),
})

/** On a root that is made for this. */
export const withScratch = async <T>(
  start: (root: string, bare: boolean) => Promise<ShortDaemon>,
  config: Readonly<Record<string, string>>,
  work: (daemon: NearDaemon) => Promise<T>,
): Promise<T> => {
  const { path, remove } = makePrivateFolder()
  try {
    for (const [name, text] of Object.entries(config)) await filesOf(path).writeConfig(name, text)
    const { client, stop } = await start(path, true)
    return await work(near(client, path, false)).finally(stop)
  } finally {
    remove()
  }
}

export const withDaemon = async <T>(
  { client, flags, addressed }: Pick<CommandInput, 'client' | 'flags' | 'addressed'>,
  start: (root: string) => Promise<ShortDaemon>,
  work: (daemon: NearDaemon) => Promise<T>,
): Promise<T> => {
  const root = rootOf(flags)
  if (addressed || findHolder(root) !== undefined) {
    checkRoot(root, await client.get('/v1/runtime'), client.baseUrl)
    return work(near(client, root, true))
  }
  const short = await start(root)
  try {
    return await work(near(short.client, root, false))
  } finally {
    await short.stop()
  }
}
