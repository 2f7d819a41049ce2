/** Drawings that another program wrote and audited; docs/rules/normalisers.md. */
import test from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'
import { spawnTestDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy, systemPython } from '../../../support/judges.js'

/** Draws in each version with each kind of entity that it has; tells of each file what its own audit finds in it. */
const draw = `
import json, sys, ezdxf
from collections import Counter
told = {}
def kinds(entity):
    yield entity.dxftype()
    if entity.dxftype() == 'POLYLINE':
        yield from [v.dxftype() for v in entity.vertices]
        yield 'SEQEND'
for version in ['R12', 'R2000', 'R2004', 'R2007', 'R2010', 'R2013', 'R2018']:
    drawing = ezdxf.new(version, setup=True)
    space = drawing.modelspace()
    space.add_line((0, 0), (200, 0))
    space.add_circle((50, 50), 30)
    space.add_arc((50, 50), 40, 0, 90)
    space.add_point((10, 10))
    space.add_solid([(0, 0), (1, 0), (0, 1)])
    space.add_text('Küche ≥ 12 m²', dxfattribs={'insert': (5, 6)})
    drawing.blocks.new('DOOR').add_line((0, 0), (900, 0))
    space.add_blockref('DOOR', (20, 30))
    space.add_polyline2d([(0, 0), (200, 0), (200, 100)])
    space.add_linear_dim(base=(0, 20), p1=(0, 0), p2=(200, 0), text='2 m').render()
    if version != 'R12':
        space.add_lwpolyline([(0, 0), (200, 0), (200, 100)], close=True)
        space.add_ellipse((70, 70), (30, 0), 0.5)
        space.add_spline([(0, 0), (10, 30), (20, 0)])
        space.add_mtext('Flur\\\\P{\\\\fArial;oben}', dxfattribs={'insert': (7, 8)})
        space.add_hatch().paths.add_polyline_path([(0, 0), (10, 0), (10, 10)])
    file = sys.argv[1] + '/' + version + '.dxf'
    drawing.saveas(file)
    audited = ezdxf.readfile(file)
    faults = [error.message for error in audited.audit().errors]
    told[version] = {'faults': faults, 'acad': audited.dxfversion, 'counts': Counter(kind for e in audited.modelspace() for kind in kinds(e))}
print(json.dumps(told))
`
interface Told {
  readonly faults: readonly string[]
  readonly acad: string
  readonly counts: Readonly<Record<string, number>>
}

judgedBy(test, 'python3-ezdxf')(
  'normalisers-8: a drawing of each version is told as the program that audits it counts it, with its letters',
  async (t) => {
    const [daemon, folder] = [await spawnTestDaemon(t), freshFolder()]
    const program = path.join(folder, 'draw.py')
    writeFileSync(program, draw)
    const told: Record<string, Told> = JSON.parse(ask(systemPython, program, folder))
    t.is(Object.keys(told).length, 7)
    for (const [version, { faults, acad, counts }] of Object.entries(told)) {
      t.deepEqual(faults, [], version)
      const url = `${daemon.url}/v1/assets/raw?file_name=a.dxf&media_type=application/dxf`
      const answer = await fetch(url, { method: 'POST', body: readFileSync(path.join(folder, `${version}.dxf`)) })
      const asset: any = await answer.json()
      t.is(answer.status, 201, asset.detail)
      const read = async (part: string): Promise<Buffer> =>
        Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset.asset_id}/${part}`)).arrayBuffer())
      const lines = (await read('text')).toString().split('\n')
      const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1))
      for (const line of [
        `Version: ${acad}`,
        `Entities: ${sorted.map(([kind, count]) => `${kind} ${count}`).join(', ')}`,
        'Dimension: 2 m',
        'Text at (5, 6): Küche ≥ 12 m²',
        'LINE (0, 0) to (200, 0)',
        'INSERT DOOR (20, 30)',
        ...(version === 'R12' ? [] : ['Text at (7, 8): Flur oben', 'LWPOLYLINE (0, 0) (200, 0) (200, 100)']),
      ])
        t.true(lines.includes(line), `${version}: ${line} is not in ${lines.join('\n')}`)
      t.false(
        lines.some((line) => line.startsWith('Extents')),
        'nobody measured it',
      )
      const { width, height, format } = await sharp(await read('preview')).metadata()
      t.deepEqual([width, height, format], [1024, 1024, 'png'])
    }
  },
)
