/** What the command line has of plugins: the flags of serve that they add, and `plugins new`, which makes one. */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { settingsOf } from '../base/config.js'
import { fieldSchemas } from '../base/schema.js'
import { defineCommand, type Command, type CommandInput } from '../plugin/command.js'
import type { AnyPlugin } from '../plugin/contract.js'
import { isThere } from '../state/disk/outside.js'
import { makeFolderOf, readFolder } from '../state/disk/outside-folder.js'
import { errors } from './told/errors.js'
import type { PluginFlag } from './help.js'
import type { ShippedView } from './shipped-view.js'

const flagsOf = (plugin: AnyPlugin): PluginFlag[] => {
  const properties = plugin.config === undefined ? {} : fieldSchemas(plugin.config)
  return settingsOf(plugin).map(({ flag, variable, field }) => ({
    flag,
    variable,
    schema: properties[field] ?? {},
  }))
}

export const pluginFlags = (plugins: readonly AnyPlugin[]): readonly PluginFlag[] => plugins.flatMap(flagsOf)

const kinds = ['tool', 'provider', 'connector'] as const

/** What this program is installed as. */
const home = fileURLToPath(new URL('../../../', import.meta.url))

/** Not ids of plugins, and of use as none. */
const reserved: readonly string[] = ['holdfast', 'scripted', 'core', 'test', 'node']
const longest = 60

/** Names of the shipped tools, from the page that is made of a daemon: here none has started that could be asked. */
const shippedTools = (): readonly string[] => {
  const page = readFolder(path.join(home, 'docs', 'reference')).get('tools.md') ?? ''
  return [...page.matchAll(/^\| \[`(\w+)`\]/gmu)].map(([, tool = '']) => tool)
}

const toolProblem = (kind: string, name: string): string | undefined => {
  const tool = name.replaceAll('-', '_')
  return kind === 'tool' && shippedTools().includes(tool) ? `Holdfast has a tool ${tool} already` : undefined
}

const problemOf = async (kind: string, name: string, shipped: ShippedView): Promise<string | undefined> => {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/u.test(name))
    return 'say a small letter, then small letters and digits, with single hyphens between words, such as word-count'
  if (name.length > longest) return `it has more than ${longest} characters`
  const taken = (await shipped.plugins()).some(({ id }) => id === name)
  return taken || reserved.includes(name) ? 'the name is taken' : toolProblem(kind, name)
}

/** Templates call themselves `my-plugin`, and `my_plugin` where a hyphen cannot be. */
const named = (text: string, name: string, folder: string): string =>
  text
    .replaceAll('my-plugin', name)
    .replaceAll('my_plugin', name.replaceAll('-', '_'))
    .replaceAll('HOLDFAST', () => JSON.stringify(path.relative(folder, home)).slice(1, -1))

const refusedBy = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

const make = (kind: string, name: string): { readonly folder: string; readonly files: readonly string[] } => {
  const folder = path.resolve(name)
  const files = ['shared', kind].flatMap((part) => [...readFolder(path.join(home, 'docs', 'templates', part))])
  try {
    makeFolderOf(folder, new Map(files.map(([file, text]) => [file, named(text, name, folder)])))
  } catch (error) {
    const reason = refusedBy(error)
    if (reason === 'EEXIST') throw errors.plugin_folder_taken({ details: { folder } })
    throw errors.plugin_folder_refused({ details: { folder, reason } })
  }
  return { folder, files: files.map(([file]) => file).toSorted() }
}

export const newPluginCommand = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['plugins', 'new'],
    summary: 'Make a folder with a new plugin (tool, provider or connector) that builds and passes its test.',
    args: ['kind', 'name'],
    alone: true,
    choices: { kind: kinds },
    run: async ({ args: { kind = '', name = '' } }: CommandInput) => {
      if (!kinds.some((known) => known === kind))
        throw errors.plugin_kind_unknown({ details: { kind, kinds: kinds.join(', ').replace(/, (?=\w+$)/u, ' or ') } })
      const problem = await problemOf(kind, name, shipped)
      if (problem !== undefined) throw errors.plugin_name_refused({ details: { name, problem } })
      if (isThere(path.resolve(name))) throw errors.plugin_folder_taken({ details: { folder: path.resolve(name) } })
      return make(kind, name)
    },
    show: ({ folder }) => {
      const name = path.basename(folder)
      const steps = [`cd ${name}`, 'npm install', 'npm test'].map((step) => `  ${step}\n`).join('')
      return `${name} is made. What comes next:\n\n${steps}\nREADME.md says how to use it.`
    },
  })
