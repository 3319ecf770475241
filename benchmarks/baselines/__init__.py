"""The model again, written as others write it: what the engines are measured against."""
