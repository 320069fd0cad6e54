"""Text files in any encoding: guessed where UTF-8 fails, said, kept, and nothing left behind."""

import gc
import gzip
import importlib.util
import sys
import tempfile

import pytest

from deciban import NaiveBayes, load, scan
from deciban.errors import DataWarning, FileError

TEXTS = {
    "gb18030": "姓名,城市\n张伟,北京\n李娜,上海\n",
    "cp950": "姓名,城市\n陳大文,臺北\n林小姐,高雄\n",
    "cp932": "名前,都市\n田中太郎,東京\nスズキ,大阪\nさくら,京都\n",
    "cp949": "이름,도시\n김철수,서울\n이영희,부산\n",
    "cp1252": "name,stadt\nMüller,Köln\nRené,Besançon\nà la carte,“so”\n",
    "cp1250": "jméno,město\nJiří,Plzeň\nŽofie,České Budějovice\n",
    "cp1251": "имя,город\nИван,Москва\nОльга,Казань\n",
}


def cells(text):
    """The fields of a text, row by row, as they are read."""
    names, *rows = (line.split(",") for line in text.splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def rows_of(table):
    return [row for batch in table for row in batch.tolist()]


@pytest.fixture
def spools(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / "spools"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", TEXTS)
def test_an_encoding_is_guessed_and_said(encoding, packed, tmp_path, spools):
    data = TEXTS[encoding].encode(encoding)
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.warns(DataWarning, match=f"is not in UTF-8; it is read as {encoding}"):
        table = scan(path)
    assert rows_of(table) == rows_of(table) == cells(TEXTS[encoding])
    assert len(list(spools.iterdir())) == 1
    del table
    gc.collect()
    assert not list(spools.iterdir())


@pytest.mark.parametrize(
    ("stated", "encoding"),
    [("gbk", "gbk"), ("GB2312", "gbk"), ("big5", "big5"), ("shift-jis", "cp932"),
     ("euc-kr", "cp949"), ("cp1252", "cp1252"), ("utf-16-le", "utf-16-le"), ("cp437", "cp437"),
     ("utf-8", "utf-8")],
)  # fmt: skip
def test_an_encoding_is_stated(stated, encoding, tmp_path):
    text = "a,b\né,ü\n" if encoding.startswith("cp4") or encoding == "cp1252" else "a,b\n中,大\n"
    text = "a,b\n가,나\n" if encoding == "cp949" else text
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    assert rows_of(scan(path, encoding=stated)) == cells(text)


def test_a_byte_order_mark_overrules(tmp_path):
    path = tmp_path / "t.csv"
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        path.write_bytes("a,b\né,ü\n".encode(encoding))
        assert rows_of(scan(path, encoding="latin-1")) == [{"a": "é", "b": "ü"}]


def test_what_does_not_fit_is_an_error_that_names_the_line(tmp_path, spools):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" + b"x\n" * 9 + b"\xff\xff\n")
    with pytest.raises(FileError, match=r"is not in cp949 .*Hint: state another encoding"):
        scan(path, encoding="euc-kr")
    gc.collect()
    assert not list(spools.iterdir())


def test_the_odd_byte_may_be_far_down(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 2_000_000 + "1,café\n".encode("cp1252"))
    with pytest.warns(DataWarning, match="read as cp1252"):
        table = scan(path)
    *_, last = table
    assert last.columns["b"].slice(last.n_rows - 1, last.n_rows).tolist() == ["café"]


def test_json_lines_in_another_encoding(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes('{"城市": "北京市中心"}\n{"城市": "上海"}\n'.encode("gbk"))
    with pytest.warns(DataWarning, match="gb18030"):
        table = scan(path)
    assert rows_of(table) == [{"城市": "北京市中心"}, {"城市": "上海"}]


def test_one_row_is_read_in_the_encoding_of_training(tmp_path):
    path, one = tmp_path / "t.csv", tmp_path / "one.csv"
    cities = ["北京", "上海"]
    text = "city,label\n" + "".join(f"{cities[i % 2]},{'ab'[i % 2]}\n" for i in range(40))
    path.write_bytes(text.encode("gbk"))
    with pytest.warns(DataWarning, match="gb18030"):
        NaiveBayes().fit(path, target="label").save(tmp_path / "m.deciban")
    model = load(tmp_path / "m.deciban")
    assert model.schema_.columns[0].format == "text gb18030"
    one.write_bytes("city\n北京\n".encode("gbk"))  # four bytes, which are good Big5 as well
    assert model.predict(one).tolist() == ["a"]
    one.write_text("city\n上海\n", encoding="utf-8")
    assert model.predict(one).tolist() == ["b"], "UTF-8 is tried first"


def test_without_the_detector_latin_scripts_are_guessed_and_others_are_not(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n == "charset_normalizer" else find(n)
    )
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    path = tmp_path / "t.csv"
    path.write_bytes(TEXTS["cp1252"].encode("cp1252"))
    with pytest.warns(DataWarning, match="read as cp1252"):
        scan(path)
    path.write_bytes(TEXTS["gb18030"].encode("gb18030"))
    with pytest.raises(
        FileError, match=r"cannot be guessed\. Hint: pip install charset-normalizer"
    ):
        scan(path)
