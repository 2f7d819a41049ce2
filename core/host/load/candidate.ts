/** A plugin that may be loaded, before any of its code ran. */
import { fileURLToPath } from 'node:url'
import type { AnyKit, AnyPlugin, AnyPluginModule, ShippedPlugin } from '../../plugin/contract.js'
import { defaultsOf } from '../../base/config.js'
import { parse } from '../../base/parse.js'
import { literal, object, string } from '../../base/schema.js'
import { isError, thrownText } from '../../base/text/thrown.js'
import { errors } from '../errors.js'

export interface Candidate {
  readonly id: string
  readonly from: string
  readonly required: boolean
  /** Whether a line of a stack is in the plugin's code. */
  readonly owns: (line: string) => boolean
  readonly load: () => Promise<AnyPlugin>
}

/** What a plugin may be called. */
export const PluginId = string({
  pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
  told: 'must be words of small letters and digits, joined by hyphens, and begin with a letter',
})

const Shape = object({
  id: PluginId,
  version: string({
    max: 64,
    pattern: '^[A-Za-z0-9][A-Za-z0-9.+_-]*$',
    told: 'must be of letters, digits, dots, hyphens, plus signs and underscores, such as 1.0.0',
  }),
  api: literal(1),
  summary: string({ min: 1 }),
})
const refuse = (reason: string): never => {
  throw errors.plugin_refused({ details: { reason } })
}

const checkConfig = (plugin: AnyPlugin): void => {
  if (plugin.config === undefined) return
  const defaults = defaultsOf(plugin.config)
  if (!defaults.ok) refuse(`its config has no default for ${defaults.issues.map(({ path }) => path).join(', ')}`)
}

/** What code of a plugin threw; of what is no error, such as `null`, a sentence that says so. */
export const thrownBy = (what: string, thrown: unknown): unknown =>
  isError(thrown)
    ? thrown
    : errors.plugin_refused({ details: { reason: `${what} threw what is no error: ${thrownText(thrown)}` } })

const made = (make: (kit: AnyKit) => AnyPlugin, kit: AnyKit): AnyPlugin => {
  try {
    return make(kit)
  } catch (error) {
    throw thrownBy('its default export', error)
  }
}

const refusePromise = (promise: Promise<unknown>): never => {
  // Nobody waits for it, whatever comes of it.
  void promise.catch(() => {})
  return refuse(
    'its default export gives a promise: it must give the plugin itself, without async. ' +
      'What takes time is begun in onStart',
  )
}

/** Checks what a main file exports. `id` is what the plugin is listed as. */
export const pluginOf = (module: Partial<AnyPluginModule>, kit: AnyKit, id?: string): AnyPlugin => {
  const exported = module.default
  const plugin = typeof exported === 'function' ? made(exported, kit) : exported
  if (plugin instanceof Promise) return refusePromise(plugin)
  if (typeof plugin !== 'object' || plugin === null)
    return refuse('its main file must have a plugin, or a function that returns one, as default export')
  const { id: own, version, api, summary } = plugin
  const shape = parse(Shape, { id: own, version, api, summary })
  if (!shape.ok)
    return refuse(
      `its default export is not a plugin: ${shape.issues.map(({ path, rule }) => `${path} ${rule}`).join(', ')}`,
    )
  if (typeof plugin.register !== 'function')
    return refuse('its default export is not a plugin: register must be a function')
  if (id !== undefined && own !== id) return refuse(`it calls itself ${own}, but is listed as ${id}`)
  checkConfig(plugin)
  return plugin
}

/** The compiled plugins, and their sources for stacks that tell of these; as addresses and as paths. */
const shippedFolders = ['../../../plugins/', '../../../../plugins/'].flatMap((folder) => {
  const { href } = new URL(folder, import.meta.url)
  return [href, fileURLToPath(href)]
})

/** Shipped plugins stand in groups. Names such as `http` and `memory` are folders of core too. */
const ownsShipped =
  (id: string) =>
  (line: string): boolean =>
    shippedFolders.some((folder) => {
      const at = line.indexOf(folder)
      return at >= 0 && line.slice(at + folder.length).split('/', 2)[1] === id
    })

export const shippedCandidate = ({ id, required, load }: ShippedPlugin, kit: AnyKit): Candidate => ({
  id,
  required,
  from: 'shipped',
  owns: ownsShipped(id),
  load: async () => pluginOf(await load(), kit, id),
})
