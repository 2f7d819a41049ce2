import {
  array,
  boolean,
  commandErrors,
  commandLine,
  count,
  defineCommand,
  isJsonObject,
  listedRows,
  number,
  open,
  optional,
  searchedRows,
  showRows,
  showSize,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  pageFlags,
} from '../../../core/plugin.js'
import type { AssetPart } from './contract.js'
import { download, Downloaded, showDownloaded, toFlag } from './download.js'
import { givenFile } from './given-file.js'

const Row = open({ asset_id: string(), media_type: string(), file_name: string(), byte_length: number() })
const showAsset = ({ asset_id, media_type, file_name, byte_length }: Infer<typeof Row>): string =>
  `${visibleLine(asset_id)}  ${visibleLine(media_type)}  ${showSize(byte_length)}  ${visibleLine(file_name)}`
const showAssets = (rows: Infer<typeof Row>[]): string =>
  rows.length === 0 ? 'No assets yet. Store a file: holdfast assets import FILE' : rows.map(showAsset).join('\n')

const urlOf = (args: Readonly<Record<string, string>>): string =>
  `/v1/assets/${encodeURIComponent(args['asset_id'] ?? '')}`

const parts: readonly AssetPart[] = ['raw', 'text', 'preview']

const Reference = open({ domain: string(), owner_id: string(), role: string(), hard: boolean() })
const showReference = ({ domain, owner_id, role, hard }: Infer<typeof Reference>): string =>
  `${visibleLine(domain)}  ${visibleLine(owner_id)}  ${visibleLine(role)}${hard ? '' : '  (may go)'}`

const showReferences = (references: Infer<typeof Reference>[]): string =>
  references.length === 0 ? 'Nothing names it.' : references.map(showReference).join('\n')
const References = open({
  references: array(Reference),
  pagination: open({ total_count: number(), has_more: boolean(), next_cursor: optional(string()) }),
})
const cursorOf = ({ cursor }: CommandInput['flags']): string =>
  typeof cursor === 'string' ? `?cursor=${encodeURIComponent(cursor)}` : ''

const Plan = open({
  asset_id: string(),
  dry_run: boolean(),
  blocked: boolean(),
  reclaimable_bytes: number(),
  hard_reference_count: number(),
})
const showPlan = (plan: Infer<typeof Plan>): string => {
  const id = visibleLine(plan.asset_id)
  const size = showSize(plan.reclaimable_bytes)
  if (!plan.dry_run) return `${id} is deleted: ${size}.`
  return plan.blocked
    ? `${id} is in use ${count(plan.hard_reference_count, 'time')} and stays. ` +
        `See: ${commandLine('assets references', plan.asset_id)}`
    : `${id} would be deleted: ${size}.`
}

const Report = open({
  dry_run: boolean(),
  candidate_count: number(),
  blocked_count: number(),
  deleted_count: number(),
  orphan_file_count: number(),
  reclaimable_bytes: number(),
})
const showReport = (report: Infer<typeof Report>): string => {
  const { candidate_count, blocked_count, orphan_file_count } = report
  const size = showSize(report.reclaimable_bytes)
  const stay = blocked_count === 1 ? 'stays' : 'stay'
  const stays = `${count(blocked_count, 'asset is', 'assets are')} in use and ${stay}.`
  const orphans = count(orphan_file_count, 'orphaned file')
  return report.dry_run
    ? `Would delete ${count(candidate_count, 'asset')} and ${orphans}: ${size}. ${stays} ` + 'Do it with --execute.'
    : `Deleted ${count(report.deleted_count, 'asset')} and ${orphans}: ${size}. ${stays}`
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['assets', 'list'],
    route: 'GET /v1/assets',
    summary: 'Stored files by id.',
    flags: {
      query: { kind: 'text', summary: 'Only those whose id, name, media type or digest holds this text.' },
      ...pageFlags,
    },
    run: (input) => searchedRows(input, '/v1/assets'),
    answer: listedRows(Row),
    show: showRows(showAssets),
  }),
  defineCommand({
    path: ['assets', 'get'],
    route: 'GET /v1/assets/{asset_id}',
    summary: 'One asset.',
    args: ['asset_id'],
    run: ({ client, args }) => client.get(urlOf(args)),
  }),
  defineCommand({
    path: ['assets', 'download'],
    route: 'GET /v1/assets/{asset_id}/raw',
    summary: 'Writes the bytes of an asset to a file that is not there yet.',
    args: ['asset_id'],
    flags: {
      ...toFlag,
      part: { kind: 'text', summary: 'What of it: raw, which is the file itself, text or preview; raw when absent.' },
    },
    choices: { part: parts },
    run: async (input) => {
      const wish = input.flags['part'] ?? 'raw'
      const part = parts.find((one) => one === wish)
      if (part === undefined)
        throw commandErrors.flag_invalid({ details: { flag: 'part', problem: `must be ${parts.join(', ')}` } })
      return download(input, input.args['asset_id'] ?? '', part)
    },
    answer: Downloaded,
    show: showDownloaded,
  }),
  defineCommand({
    path: ['assets', 'references'],
    route: 'GET /v1/assets/{asset_id}/references',
    summary: 'What names an asset.',
    args: ['asset_id'],
    flags: { cursor: pageFlags.cursor },
    run: ({ client, args, flags }) => client.get(`${urlOf(args)}/references${cursorOf(flags)}`),
    answer: References,
    show: ({ references: items, pagination }) => showRows(showReferences)({ items, pagination }),
  }),
  defineCommand({
    path: ['assets', 'import'],
    route: 'POST /v1/assets',
    summary: 'Stores a file.',
    args: ['file'],
    flags: {
      'media-type': { kind: 'text', summary: 'What it is; by the end of its name when absent.' },
      'file-name': { kind: 'text', summary: 'What it is called; the name of the file when absent.' },
    },
    fields: { 'body.content_base64': '<file>' },
    run: async ({ client, args, flags, output, print }) => {
      const file = args['file'] ?? ''
      const wish = flags['media-type']
      const { file_name, media_type, content_base64 } = givenFile(file, typeof wish === 'string' ? wish : undefined)
      const name = typeof flags['file-name'] === 'string' ? flags['file-name'] : file_name
      const answer = await client.send('POST', '/v1/assets', {
        file_name: name,
        media_type,
        content_base64,
      })
      const isKnown = isJsonObject(answer) && answer['file_name'] !== name
      if (isKnown && output === 'pretty') print('The same file is stored already, under the name shown here.')
      return answer
    },
    answer: Row,
    show: showAsset,
  }),
  defineCommand({
    path: ['assets', 'delete'],
    route: 'DELETE /v1/assets/{asset_id}',
    summary: 'Deletes an asset that nothing needs.',
    args: ['asset_id'],
    flags: { 'dry-run': { kind: 'switch', summary: 'Say what would be deleted, and delete nothing.' } },
    run: ({ client, args, flags }) =>
      client.send('DELETE', `${urlOf(args)}${flags['dry-run'] === true ? '?dry_run=true' : ''}`),
    answer: Plan,
    show: showPlan,
  }),
  defineCommand({
    path: ['assets', 'gc'],
    route: 'POST /v1/assets/gc',
    summary: 'Says which assets nothing needs, and which bytes no asset has.',
    flags: { execute: { kind: 'switch', summary: 'Delete them.' } },
    run: ({ client, flags }) => client.send('POST', '/v1/assets/gc', { dry_run: flags['execute'] !== true }),
    answer: Report,
    show: showReport,
  }),
]
