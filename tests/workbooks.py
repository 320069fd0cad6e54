"""Workbooks of Excel for tests: a zip of XML, the smallest one that holds what they need."""

import datetime as dt
import zipfile

_STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="21" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.date):
        return f'<c s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, dt.time):
        return f'<c s="2"><v>{(value.hour * 60 + value.minute) / 1440!r}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def write_workbook(path, sheets):
    """Sheets of rows of values, by name."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    entries, links = "", ""
    with zipfile.ZipFile(path, "w") as book:
        for i, (name, rows) in enumerate(sheets.items(), start=1):
            entries += f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>'
            links += f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="s{i}.xml"/>'
            body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            sheet = f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>"
            book.writestr(f"xl/s{i}.xml", sheet)
        links += f'<Relationship Id="r0" Type="{office}/styles" Target="styles.xml"/>'
        book.writestr("xl/styles.xml", _STYLES)
        whole = f'<workbook {main} xmlns:r="{office}"><sheets>{entries}</sheets></workbook>'
        book.writestr("xl/workbook.xml", whole)
        start = f'<Relationships xmlns="{package}/relationships">'
        book.writestr("xl/_rels/workbook.xml.rels", f"{start}{links}</Relationships>")
        target = f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        book.writestr("_rels/.rels", f"{start}{target}</Relationships>")
        book.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
