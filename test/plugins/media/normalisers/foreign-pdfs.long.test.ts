/** PDFs that other programs made, and what yet others read in them; docs/rules/normalisers.md. */
import test, { type ExecutionContext } from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { spawnTestDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy, systemPython } from '../../../support/judges.js'
import { pagesOf, sharedWords } from '../../../support/pdf.js'

const words = readFileSync('docs/decisions.md', 'utf8')

/** Looks at PDFs: those without a reason are taken with their text, the others are refused for it. */
const look = async (t: ExecutionContext, files: Readonly<Record<string, RegExp | undefined>>): Promise<void> => {
  const daemon = await spawnTestDaemon(t)
  for (const [file, why] of Object.entries(files)) {
    const name = path.basename(file)
    const query = new URLSearchParams({ file_name: name, media_type: 'application/pdf' })
    const answer = await fetch(`${daemon.url}/v1/assets/raw?${query.toString()}`, {
      method: 'POST',
      body: readFileSync(file),
    })
    const { asset_id, code, detail }: any = await answer.json()
    if (why !== undefined) {
      t.deepEqual([answer.status, code], [400, 'asset_invalid'], name)
      t.regex(detail, why, name)
      continue
    }
    t.is(answer.status, 201, `${name}: ${detail}`)
    const text = await (await fetch(`${daemon.url}/v1/assets/${asset_id}/text`)).text()
    const { all, share } = sharedWords(ask('pdftotext', file, '-'), text)
    t.log(`${name}: ${share} of ${all} words`)
    t.true(all >= 10 && share >= 0.98, `${name}: ${share} of ${all} words`)
  }
}

/** Four pages that ghostscript drew. */
const drawn = (folder: string, ...how: readonly string[]): string => {
  const [source, file] = [
    path.join(folder, 'a.ps'),
    path.join(folder, `gs${how.join('').replaceAll(/[^\w.]/gu, '')}.pdf`),
  ]
  writeFileSync(source, pagesOf(words))
  ask('gs', '-q', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite', ...how, `-sOutputFile=${file}`, source)
  return file
}

judgedBy(
  test,
  'gs',
  'pdftotext',
  'qpdf',
)(
  'normalisers-3: PDFs of ghostscript are read, also as qpdf writes them anew; one with a password is refused',
  async (t) => {
    const folder = freshFolder()
    const file = drawn(folder)
    const anew = (name: string, ...how: readonly string[]): string => {
      const made = path.join(folder, `${name}.pdf`)
      ask('qpdf', ...how, file, made)
      return made
    }
    await look(t, {
      [file]: undefined,
      [drawn(folder, '-dCompatibilityLevel=1.3')]: undefined,
      [drawn(folder, '-dCompatibilityLevel=1.7', '-dCompressFonts=false')]: undefined,
      [drawn(folder, '-dCompressPages=false')]: undefined,
      [anew('linear', '--linearize')]: undefined,
      [anew('objects', '--object-streams=generate')]: undefined,
      [anew('plain', '--qdf')]: undefined,
      [anew('open', '--encrypt', '', 'owner', '256', '--')]: undefined,
      [anew('open-128', '--allow-weak-crypto', '--encrypt', '', 'owner', '128', '--')]: undefined,
      [anew('locked', '--encrypt', 'secret', 'owner', '256', '--')]: /encrypted/u,
      [anew('locked-40', '--allow-weak-crypto', '--encrypt', 'secret', 'owner', '40', '--')]: /encrypted/u,
    })
  },
)

const report = `
import sys
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table
words, styles = open(sys.argv[1]).read().split(), getSampleStyleSheet()
def make(name, **how):
    text = [Paragraph(' '.join(words[at:at + 60]), styles['Normal']) for at in range(0, 600, 60)]
    table = Table([['cell %d %d' % (row, column) for column in range(5)] for row in range(30)])
    SimpleDocTemplate(sys.argv[2] + '/' + name, **how).build([Paragraph('Größe', styles['Title']), *text, PageBreak(), table])
make('report.pdf')
make('plain-report.pdf', pageCompression=0)
make('locked-report.pdf', encrypt='secret')
`

judgedBy(
  test,
  'python3-reportlab',
  'pdftotext',
)('normalisers-3: PDFs of reportlab are read, with their tables; one with a password is refused', async (t) => {
  const folder = freshFolder()
  const [program, text] = [path.join(folder, 'report.py'), path.join(folder, 'words.txt')]
  writeFileSync(program, report)
  writeFileSync(text, (words.match(/[A-Za-z]{3,}/gu) ?? []).join(' '))
  ask(systemPython, program, text, folder)
  await look(t, {
    [path.join(folder, 'report.pdf')]: undefined,
    [path.join(folder, 'plain-report.pdf')]: undefined,
    [path.join(folder, 'locked-report.pdf')]: /encrypted/u,
  })
})

const page = `<html><body><h1>Ferns and moss</h1>
<p>Words that are set with <b>bold</b> ones, ligatures as in office and file, and letters as in Größe and naïve.</p>
<table><tr><td>one</td><td>two</td></tr><tr><td>three</td><td>four</td></tr></table></body></html>`

judgedBy(
  test,
  'mutool',
  'pdftotext',
)('normalisers-3: a web page that mutool set is read', async (t) => {
  const folder = freshFolder()
  const [source, file] = [path.join(folder, 'a.html'), path.join(folder, 'page.pdf')]
  writeFileSync(source, page)
  ask('mutool', 'convert', '-o', file, source)
  const clean = path.join(folder, 'clean.pdf')
  ask('mutool', 'clean', '-ggg', '-z', file, clean)
  await look(t, { [file]: undefined, [clean]: undefined })
})

const spaces = ['office', 'drawing', 'text', 'svg-compatible']
  .map((name) => [name.replace('drawing', 'draw').replace('svg-compatible', 'svg'), name] as const)
  .map(([short, name]) => `xmlns:${short}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')
const drawing = `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${spaces} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.graphics">
<office:body><office:drawing><draw:page draw:name="one">
<draw:frame svg:x="2cm" svg:y="2cm" svg:width="16cm" svg:height="4cm"><draw:text-box>
<text:p>Größe of the office, filed by others.</text:p><text:p>A second line of it.</text:p>
</draw:text-box></draw:frame></draw:page></office:drawing></office:body></office:document>`

judgedBy(
  test,
  'soffice',
  'pdftotext',
)('normalisers-3: a drawing that LibreOffice printed is read', async (t) => {
  const folder = freshFolder()
  const source = path.join(folder, 'drawing.fodg')
  writeFileSync(source, drawing)
  const own = `-env:UserInstallation=file://${folder}/profile`
  ask('soffice', own, '--headless', '--convert-to', 'pdf', '--outdir', folder, source)
  await look(t, { [path.join(folder, 'drawing.pdf')]: undefined })
})
