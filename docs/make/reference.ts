/** Everything that `npm run docs` writes, by path from the top of the repository. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillFences, type Fence } from './fences.js'
import { gather, type Facts } from './gather.js'
import { page, table } from './markdown.js'
import { repository } from './modules.js'
import { commandLinePage } from './pages/command-line.js'
import { configurationPage } from './pages/configuration.js'
import { errorsPage } from './pages/errors.js'
import { eventsPage } from './pages/events.js'
import { hooksPage } from './pages/hooks.js'
import { pluginsPage } from './pages/plugins.js'
import { routesPage, schemasPage } from './pages/routes.js'
import { stateFilesPage } from './pages/state-files.js'
import { toolsPage } from './pages/tools.js'

interface Made {
  readonly file: string
  readonly sentence: string
  readonly make: (facts: Facts) => string | Promise<string>
}

const pages: readonly Made[] = [
  { file: 'routes.md', sentence: 'Every HTTP route: parameters, body, answer, problems', make: routesPage },
  { file: 'schemas.md', sentence: 'The shapes that routes share', make: schemasPage },
  { file: 'events.md', sentence: 'Every server-sent event with its data', make: eventsPage },
  { file: 'hooks.md', sentence: 'Every moment of hooks: when, what they are told, what they answer', make: hooksPage },
  { file: 'errors.md', sentence: 'Every error: code, status, sentence, what to do', make: errorsPage },
  { file: 'configuration.md', sentence: 'Every setting with its default, flag and variable', make: configurationPage },
  { file: 'tools.md', sentence: 'Every shipped tool and its input', make: toolsPage },
  { file: 'command-line.md', sentence: 'Every command and its flags', make: commandLinePage },
  { file: 'state-files.md', sentence: 'Every file of a state root, every collection and stream', make: stateFilesPage },
  { file: 'plugins.md', sentence: 'Every shipped plugin, every point and service', make: pluginsPage },
]

const index = (): string =>
  page(
    '# Reference',
    'Made from the code by `npm run docs`: change the code, not these pages. A test fails when they differ.',
    table(
      ['page', 'what is there'],
      pages.map(({ file, sentence }) => [`[${file}](${file})`, sentence]),
    ),
  )

/** What stands between `// part: name` and `// end`, moved to the left; `#` begins such a line in Python. */
const partOf = (text: string, part: string): string => {
  const between = new RegExp(`^( *)(?://|#) part: ${part}\\n([\\s\\S]*?)^ *(?://|#) end$`, 'mu')
  const [, indent = '', body] = between.exec(text) ?? []
  if (body === undefined) throw new Error(`there is no part ${part}`)
  return body.replaceAll(new RegExp(`^${indent}`, 'gmu'), '')
}

const contentOf = ({ attributes: { file, part } }: Fence): string | undefined => {
  if (file === undefined) return undefined
  const text = readFileSync(join(repository, file), 'utf8')
  return part === undefined ? text : partOf(text, part)
}

/** Guides, with the blocks that name a file filled with its content. */
export const makeGuides = (): Map<string, string> => {
  const guides = readdirSync(join(repository, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  return new Map(
    guides.map((guide) => {
      const text = readFileSync(join(repository, guide), 'utf8')
      return [guide, fillFences(text, contentOf)] as const
    }),
  )
}

export const makeReference = async (facts?: Facts): Promise<Map<string, string>> => {
  const known = facts ?? (await gather())
  const made = new Map([['docs/reference/README.md', index()]])
  for (const { file, make } of pages) made.set(`docs/reference/${file}`, await make(known))
  return made
}
