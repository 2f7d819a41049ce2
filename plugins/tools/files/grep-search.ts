import { basename } from 'node:path'
import { doc, object, string, type Processes } from '../../../core/plugin.js'
import { defineTool, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import { answer, systemCode } from './answer.js'
import { baseField, below, fenceBelow, limitField } from './base.js'
import { excluding, ripgrep, type Found } from './ripgrep.js'
import type { FileSurroundings } from './surroundings.js'
import { openFile, parentOf, withFolder, type Place } from './workspace.js'

type Match = { path: string; line: number; text: string }

const matchForm = /^(\d+):([^]*)$/u

/** `path NUL line:text`; what ripgrep says about binary files has no line number. */
const readMatch =
  (pathOf: (found: string) => string) =>
  (record: string): Match | undefined => {
    const end = record.indexOf('\0')
    const [, line, text] = matchForm.exec(record.slice(end + 1)) ?? []
    if (end < 0 || line === undefined || text === undefined) return undefined
    return {
      path: pathOf(record.slice(0, end).replace(/^\.\//u, '')),
      line: Number(line),
      text: text.replace(/\r$/u, ''),
    }
  }

interface Grep {
  readonly processes: Processes
  readonly place: Place
  readonly pattern: string
  readonly limit: number
  readonly signal: ToolCall['signal']
}

const form = [
  '--line-number',
  '--with-filename',
  '--null',
  '--no-heading',
  '--max-columns=500',
  '--max-columns-preview',
]

const inFolder = ({ processes, place, pattern, limit, signal }: Grep): Promise<Found<Match>> =>
  withFolder(place, {
    use: (folder) =>
      ripgrep({
        processes,
        args: [
          ...form,
          '--hidden',
          '--no-require-git',
          '--sort=path',
          '--glob',
          '!.git',
          ...excluding(fenceBelow(place)),
          '--regexp',
          pattern,
          '--',
          './',
        ],
        cwd: folder.outside,
        separator: '\n',
        limit,
        signal,
        read: readMatch((found) => below(place, found)),
      }),
  })

/** The file is handed over open, so that what was checked is what is read. */
const inFile = ({ processes, place, pattern, limit, signal }: Grep): Promise<Found<Match>> =>
  withFolder(parentOf(place), {
    use: async (folder) => {
      const name = basename(place.real)
      const handle = await openFile(folder, name)
      const path = process.platform === 'linux' ? `/proc/${process.pid}/fd/${handle.fd}` : folder.at(name)
      try {
        return await ripgrep({
          processes,
          args: [...form, '--regexp', pattern, '--', path],
          cwd: folder.outside,
          separator: '\n',
          limit,
          signal,
          read: readMatch(() => place.shown),
        })
      } finally {
        await handle.close()
      }
    },
  })

const search = async (grep: Grep): Promise<Found<Match>> => {
  try {
    return await inFolder(grep)
  } catch (error) {
    if (systemCode(error) !== 'ENOTDIR') throw error
    return inFile(grep)
  }
}

export const grepSearchTool = ({ locate, processes }: FileSurroundings): Tool =>
  defineTool({
    name: 'grep_search',
    description:
      'Finds lines that match a regular expression in a file or below a folder of the workspace. Leaves out ' +
      'binary files, what ignore files name, and .git. Long lines are cut.',
    input: object({
      pattern: doc(
        string({ min: 1, max: 1000 }),
        'Regular expression of ripgrep, without look-around and back-references.',
      ),
      base: doc(baseField, 'Folder or file to search in, relative to the workspace.'),
      limit: limitField(200, 2_000),
    }),
    effect: 'read',
    parallel: true,
    timeout_ms: 10_000,
    sandbox: 'read_only',
    run: ({ pattern, base, limit }, call) =>
      answer(async () => {
        const place = await locate(call, base)
        const found = await search({ processes, place, pattern, limit, signal: call.signal })
        return { base: place.shown, pattern, matches: [...found.items], truncated: found.truncated }
      }),
  })
