/**
 * Loads a plugin as a daemon does: from a folder of a state root, where neither `holdfast` nor what only its author has
 * can be imported.
 */
import { Session } from 'node:inspector'
import { register } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { unsafeCast } from '../base/schema.js'
import { fromKit, notThere } from '../host/load/own-import.js'
import { mainOf, packageFolder } from '../host/load/third-party.js'
import type { AnyPlugin, AnyPluginModule } from '../plugin/contract.js'
import { loadPlugin, shippedPlugins } from '../shipped.js'
import type { Disk } from '../state/disk/disk.js'
import { createDisk } from '../state/disk/real-disk.js'
import { verdictOf, type Verdict } from './check-result.js'
import { messageOf } from '../base/text/thrown.js'

/** Where what is looked for is laid down for the inspector. */
const place = 'holdfast.looked-for'

interface Located {
  readonly internalProperties?: readonly { name: string; value?: { value?: { scriptId?: string } } }[]
}

/** The file that a function stands in; undefined if it is none, such as one that was evaluated. */
const fileOf = (looked: unknown): string | undefined => {
  const urls = new Map<string, string>()
  let scriptId: string | undefined
  const session = new Session()
  session.connect()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.post('Debugger.enable')
  Reflect.set(globalThis, Symbol.for(place), looked)
  session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${place}')]` }, (_, evaluated) => {
    const { objectId = '' } = evaluated.result
    session.post('Runtime.getProperties', { objectId, ownProperties: true }, (__, found) => {
      const { internalProperties = [] } = unsafeCast<Located>(found)
      scriptId = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value?.scriptId
    })
  })
  session.disconnect()
  Reflect.deleteProperty(globalThis, Symbol.for(place))
  const url = urls.get(scriptId ?? '') ?? ''
  return url.startsWith('file:') ? fileURLToPath(url) : path.isAbsolute(url) ? url : undefined
}

/** Runs in the thread that resolves imports. What is loaded alone has the mark in its address, and hands it on. */
const hook = `
const mark = 'holdfast-alone='
export const resolve = async (specifier, context, next) => {
  const given = new URL(context.parentURL ?? 'file:///').search
  if (!given.includes(mark)) return next(specifier, context)
  const refused = JSON.parse(decodeURIComponent(given.slice(given.indexOf(mark) + mark.length)))
  const name = refused.find((one) => specifier === one || specifier.startsWith(one + '/'))
  if (name !== undefined)
    throw new Error(\`${notThere('${specifier}')}\`)
  const found = await next(specifier, context)
  return /^[./]/.test(specifier) ? { ...found, url: found.url.split('?', 1)[0] + given } : found
}`

let hooked = false
const hookImports = (): void => {
  if (!hooked) register(`data:text/javascript,${encodeURIComponent(hook)}`)
  hooked = true
}

/** What only an author has. */
const refusedIn = (disk: Disk, folder: string): readonly string[] => {
  const bytes = disk.readFile(path.join(folder, 'package.json')) ?? Buffer.from('{}')
  const { devDependencies = {} }: { readonly devDependencies?: object } = JSON.parse(Buffer.from(bytes).toString())
  return ['holdfast', ...Object.keys(devDependencies)]
}

const own = packageFolder(createDisk(), import.meta.dirname)

const isShipped = async (exported: AnyPluginModule['default']): Promise<boolean> =>
  (await Promise.all((await shippedPlugins()).map(({ load }) => load()))).some((module) => module.default === exported)

/** What ships with the daemon is loaded with it. */
export const loadAlone = async (exported: AnyPluginModule['default'], plugin: AnyPlugin): Promise<Verdict> => {
  const sentence = 'a daemon can load it from a folder of its state root'
  // The inspector takes long to find a file in a process with many modules.
  if (await isShipped(exported)) return verdictOf([], sentence)
  const file = fileOf(typeof exported === 'function' ? exported : plugin.register)
  const disk = createDisk()
  const folder = file === undefined ? own : packageFolder(disk, path.dirname(file))
  if (folder === own) return verdictOf([], sentence)
  hookImports()
  const main = pathToFileURL(mainOf(disk, folder)).href
  const refused = encodeURIComponent(JSON.stringify(refusedIn(disk, folder)))
  try {
    loadPlugin(await import(`${main}?holdfast-alone=${refused}`))
  } catch (error) {
    const reason = messageOf(error)
    return verdictOf([reason.startsWith('it imports ') ? `${reason}: ${fromKit}` : reason], sentence)
  }
  return verdictOf([], sentence)
}
