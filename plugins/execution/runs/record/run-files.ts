/** Files that runs name: those that they were given, and those that they put out. None of them can be deleted. */
import type { Collection, CollectionSpec, State, Tx } from '../../../../core/plugin.js'
import {
  filesIn,
  namingIn,
  type AssetHolder,
  type AssetNaming,
  type Assets,
  type AttachmentRef,
} from '../../../media/assets/contract.js'
import type { OutputDraft } from '../../sessions/contract.js'
import type { RunRecord } from './run-record.js'

const inputRoles = ['input_attachment', 'tool_result'] as const
type InputRole = (typeof inputRoles)[number]
/** That a run was told of a file: by who submitted it, unless `roles` says otherwise, or by a call of it. */
export type RunFile = {
  readonly run_id: string
  readonly session_id: string
  readonly asset_id: string
  readonly roles?: readonly InputRole[]
}

const outputRoles = ['output_part', 'output_artifact'] as const
type OutputRole = (typeof outputRoles)[number]
/** That an output of a run, the first is 0, has a file. */
export type OutputFile = Omit<RunFile, 'roles'> & { readonly output: number; readonly roles: readonly OutputRole[] }

type Named = Omit<RunFile, 'roles'>
const named = (file: Named) => [
  { collection: 'runs', id: file.run_id },
  { collection: 'assets', id: file.asset_id },
]
const rolesOf = ({ roles = ['input_attachment'] }: RunFile): readonly InputRole[] => roles
const givenAs = (role: InputRole) => ({
  group: (file: RunFile): string | undefined => (rolesOf(file).includes(role) ? file.asset_id : undefined),
})
const putAs = (role: OutputRole) => ({
  group: (file: OutputFile): string | undefined => (file.roles.includes(role) ? file.asset_id : undefined),
})

const inputCollection: CollectionSpec<RunFile> = {
  name: 'run_files',
  version: 2,
  id: ({ run_id, asset_id }) => `${run_id} ${asset_id}`,
  indexes: { input_attachment: givenAs('input_attachment'), tool_result: givenAs('tool_result') },
  settled: () => true,
  kept: { kind: 'runs' },
  references: named,
}

const outputCollection: CollectionSpec<OutputFile> = {
  name: 'output_files',
  version: 2,
  id: ({ run_id, output, asset_id }) => `${run_id} ${output} ${asset_id}`,
  indexes: { output_part: putAs('output_part'), output_artifact: putAs('output_artifact') },
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
export const nameGiven = (
  { tx, files, run, assets }: FileNaming,
  given: readonly Pick<AttachmentRef, 'id'>[],
): void => {
  // The same bytes may be given under several names.
  for (const asset_id of new Set(given.map(({ id }) => id))) {
    assets()?.get(asset_id)
    tx.insert(files.given, { run_id: run.run_id, session_id: run.session_id, asset_id })
  }
}

/** The same for files that a call gave, which the run may know already. */
export const nameGained = (
  { tx, files: { given }, run, assets }: FileNaming,
  files: readonly AttachmentRef[],
): void => {
  const { run_id, session_id } = run
  for (const { id: asset_id } of files) {
    assets()?.get(asset_id)
    const known = given.find(given.spec.id({ run_id, session_id, asset_id }))
    const roles = new Set<InputRole>([...(known === undefined ? [] : rolesOf(known)), 'tool_result'])
    tx.put(given, { run_id, session_id, asset_id, roles: [...roles] })
  }
}

/** The same for an output, by its place among those of the run. */
export const namePut = (
  { tx, files, run, assets }: FileNaming,
  output: number,
  { parts = [], artifacts = [] }: OutputDraft,
): void => {
  if (parts.length === 0 && artifacts.length === 0) return
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

interface HolderParts {
  readonly runs: Collection<RunRecord>
  readonly files: RunFiles
}

/** What names an asset, by runs and by the sessions whose outputs they are. */
export const runHolders = ({ runs, files: { given, put } }: HolderParts): AssetHolder[] => {
  const owners = runs
  const inputs = inputRoles.map((role) =>
    namingIn({
      collection: given,
      index: role,
      owners,
      reference: ({ run_id: owner_id, session_id: parent_id }) => ({ owner_id, role, parent_id }),
    }),
  )
  const outputs = (ownersOf: (file: OutputFile) => { owner_id: string; parent_id: string }): AssetNaming[] =>
    outputRoles.map((role) =>
      namingIn({
        collection: put,
        index: role,
        owners,
        reference: (file) => ({ ...ownersOf(file), role, detail_id: `output:${file.output}` }),
      }),
    )
  return [
    {
      domain: 'runs',
      namings: [...inputs, ...outputs(({ run_id, session_id }) => ({ owner_id: run_id, parent_id: session_id }))],
    },
    {
      domain: 'session_outputs',
      // They are found by their runs alone.
      namings: outputs(({ run_id, session_id }) => ({ owner_id: session_id, parent_id: run_id })).map(
        ({ count, list }) => ({ count, list }),
      ),
    },
  ]
}
