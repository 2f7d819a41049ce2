import type { Declared, Facts } from '../gather.js'
import { code, codes, page, table } from '../markdown.js'
import { contents, rootFiles } from '../root-files.js'

const owned = ({ core, plugins }: Facts): readonly (readonly [string, Declared])[] => [
  ['core', core],
  ...plugins.map(({ plugin, declared }) => [plugin.id, declared] as const),
]

export const stateFilesPage = (facts: Facts): string => {
  const all = owned(facts)
  return page(
    '# State files',
    'What may stand in a state root. The format of the lines is in [state-format.md](../state-format.md); ' +
      '[state-example/](../../state-example/README.md) is a root to read.',
    table(
      ['path', 'written by', 'what it is'],
      rootFiles.map(({ name, writer, sentence }) => [code(name), writer, sentence]),
    ),
    '## Collections',
    'Records by id, in `data/<collection>/`. A settled record no longer changes and may leave memory.',
    table(
      ['collection', 'owner', 'version', 'indexes', 'settles', 'holds'],
      all.flatMap(([owner, { collections }]) =>
        collections.map(({ name, version, indexes, settled }) => [
          code(name),
          owner,
          String(version),
          codes(Object.keys(indexes)),
          settled === undefined ? 'no' : 'yes',
          contents[name] ?? '',
        ]),
      ),
    ),
    '## Streams',
    'Append-only entries of an owner, in `streams/<stream>/`.',
    table(
      ['stream', 'owner', 'version', 'holds'],
      all.flatMap(([owner, { streams }]) =>
        streams.map(({ name, version }) => [code(name), owner, String(version), contents[name] ?? '']),
      ),
    ),
    '## Documents',
    table(
      ['document', 'owner'],
      all.flatMap(([owner, { documents }]) =>
        [...new Set(documents)].map((name) => [code(`documents/${name}.json`), owner]),
      ),
    ),
    ...(all.some(([, { blobs }]) => blobs.length > 0)
      ? [
          '## Blobs',
          table(
            ['area', 'owner'],
            all.flatMap(([owner, { blobs }]) => blobs.map((area) => [code(`blobs/${area}/`), owner])),
          ),
        ]
      : []),
    ...(all.some(([, { spools }]) => spools.length > 0)
      ? [
          '## Spools',
          table(
            ['area', 'owner'],
            all.flatMap(([owner, { spools }]) => spools.map((area) => [code(`spools/${area}/`), owner])),
          ),
        ]
      : []),
  )
}
