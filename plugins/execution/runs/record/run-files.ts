/** Files that runs name: those that they were given, and those that they put out. None of them can be deleted. */
import type { Collection, CollectionSpec, State, Tx } from '../../../../core/plugin.js'
import { filesIn, type AssetHolder, type Assets, type AttachmentRef } from '../../../media/assets/contract.js'
import type { OutputDraft } from '../../sessions/contract.js'
import type { RunRecord } from './run-record.js'

/** That a run was told of a file. */
export type RunFile = { readonly run_id: string; readonly session_id: string; readonly asset_id: string }

type OutputRole = 'output_part' | 'output_artifact'
/** That an output of a run, the first is 0, has a file. */
export type OutputFile = RunFile & { readonly output: number; readonly roles: readonly OutputRole[] }

const named = (file: RunFile) => [
  { collection: 'runs', id: file.run_id },
  { collection: 'assets', id: file.asset_id },
]
const byAsset = { asset: { group: ({ asset_id }: RunFile) => asset_id } }

const inputCollection: CollectionSpec<RunFile> = {
  name: 'run_files',
  version: 1,
  id: ({ run_id, asset_id }) => `${run_id} ${asset_id}`,
  indexes: byAsset,
  settled: () => true,
  kept: { kind: 'runs' },
  references: named,
}

const outputCollection: CollectionSpec<OutputFile> = {
  name: 'output_files',
  version: 1,
  id: ({ run_id, output, asset_id }) => `${run_id} ${output} ${asset_id}`,
  indexes: byAsset,
  settled: () => true,
  kept: { kind: 'runs' },
  references: named,
}

export interface RunFiles {
  readonly given: Collection<RunFile>
  readonly put: Collection<OutputFile>
}

export const declareRunFiles = (state: State): RunFiles => ({
  given: state.collection(inputCollection),
  put: state.collection(outputCollection),
})

export interface FileNaming {
  readonly tx: Tx
  readonly files: RunFiles
  readonly run: Pick<RunRecord, 'run_id' | 'session_id'>
  readonly assets: () => Assets | undefined
}

/** Throws `asset_not_found` where one of them was deleted in the meantime. */
export const nameGiven = ({ tx, files, run, assets }: FileNaming, given: readonly AttachmentRef[]): void => {
  for (const { id: asset_id } of given) {
    assets()?.get(asset_id)
    tx.insert(files.given, { run_id: run.run_id, session_id: run.session_id, asset_id })
  }
}

/** The same for an output, by its place among those of the run. */
export const namePut = (
  { tx, files, run, assets }: FileNaming,
  output: number,
  { parts = [], artifacts = [] }: OutputDraft,
): void => {
  const roles = new Map<string, OutputRole[]>()
  const add = (role: OutputRole, { id }: AttachmentRef): void =>
    void roles.set(id, [...new Set([...(roles.get(id) ?? []), role])])
  for (const file of filesIn(parts)) add('output_part', file)
  for (const file of artifacts) add('output_artifact', file)
  for (const [asset_id, of] of roles) {
    assets()?.get(asset_id)
    tx.insert(files.put, { run_id: run.run_id, session_id: run.session_id, asset_id, output, roles: of })
  }
}

const found = <T extends RunFile>(files: Collection<T>, asset_id: string): T[] =>
  files.ids('asset', asset_id).flatMap((id) => files.find(id) ?? [])

/** What names an asset, by runs and by the sessions whose outputs they are. */
export const runHolders = ({ given, put }: RunFiles): AssetHolder[] => [
  {
    domain: 'runs',
    of: (asset_id) => [
      ...found(given, asset_id).map((file) => ({
        owner_id: file.run_id,
        role: 'input_attachment',
        hard: true,
        parent_id: file.session_id,
      })),
      ...found(put, asset_id).flatMap(({ run_id, session_id, output, roles }) =>
        roles.map((role) => ({
          owner_id: run_id,
          role,
          hard: true,
          parent_id: session_id,
          detail_id: `output:${output}`,
        })),
      ),
    ],
  },
  {
    domain: 'session_outputs',
    of: (asset_id) =>
      found(put, asset_id).flatMap(({ run_id, session_id, roles }) =>
        roles.map((role) => ({ owner_id: session_id, role, hard: true, detail_id: run_id })),
      ),
  },
]
