// Calls Grep from the Inspector's web page in headless Chromium, against
// `ferrule http` with its token, and takes the picture that README shows.
//
//	apt-get install chromium
//	npm install --prefix /tmp/shot @modelcontextprotocol/inspector@2.12.0 playwright-core@1.65.1
//	go build -o /tmp/shot/ferrule ./cmd/ferrule
//	node docs/inspector/shot.mjs /tmp/shot /usr/bin/chromium
//
// It exits with 1 if the page does not show what Grep found.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { tmpdir } from 'node:os'

const [dir, browserPath] = process.argv.slice(2).map(a => resolve(a))
const { chromium } = createRequire(join(dir, 'x'))('playwright-core')
const here = import.meta.dirname
const home = mkdtempSync(join(tmpdir(), 'ferrule-shot-'))
const started = []

// start runs a program and returns the first match of a pattern in what it says.
function start(command, args, pattern, env = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env } })
  started.push(child)
  let said = ''
  return new Promise((found, failed) => {
    const hear = chunk => {
      said += chunk
      const m = said.match(pattern)
      if (m) found(m[0])
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('exit', code => failed(new Error(`${command} ended with ${code}: ${said}`)))
  })
}

let browser
try {
  const server = await start(join(dir, 'ferrule'), ['--root', resolve(here, '../..'), 'http', '--addr', '127.0.0.1:0'],
    /http:\S+\/mcp/, { FERRULE_HOME: home })
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  const page = await start(process.execPath, [join(dir, 'node_modules/.bin/mcp-inspector'), '--web', '--transport', 'http',
    '--server-url', server, '--header', `Authorization: Bearer ${token}`],
    /http:\S+API_TOKEN=\S+/, { MCP_INSPECTOR_SECRET_STORE: 'memory', MCP_AUTO_OPEN_ENABLED: 'false' })
  browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  const p = await browser.newPage({ viewport: { width: 1200, height: 760 } })
  await p.goto(page)
  await p.getByRole('switch').first().click({ force: true })
  await p.getByText('Connected', { exact: true }).waitFor()
  await p.getByText('Tools', { exact: true }).first().click()
  await p.getByText('Grep', { exact: true }).first().click()
  await p.getByRole('textbox', { name: /^pattern/ }).fill('func New\\w*\\(')
  await p.getByRole('textbox', { name: /^path/ }).fill('mcpserver')
  await p.getByRole('button', { name: 'Execute Tool' }).click()
  await p.getByText(/\(\d+ files\)/).first().waitFor({ timeout: 20000 })
  await p.screenshot({ path: join(here, 'grep.png') })
  console.log('the page shows what Grep found; see docs/inspector/grep.png')
} catch (e) {
  console.error(String(e))
  process.exitCode = 1
} finally {
  await browser?.close()
  for (const child of started) {
    child.removeAllListeners('exit')
    child.kill()
  }
}
